//! `GET /v1/plan`: which server judges what, where servers share a stream.

use super::answer::{Answer, error, json};
use crate::cluster::{Cluster, Judged};
use crate::server::Shared;
use crate::specs::Spec;
use axum::extract::State;
use axum::http::StatusCode;
use std::sync::Arc;
use tracewise::findings::json::{Object, array};

/// Members, units, and where each property is judged.
pub async fn plan(State(shared): State<Arc<Shared>>) -> Answer {
    let Some(cluster) = &shared.cluster else {
        return error(
            StatusCode::NOT_FOUND,
            "this server shares its streams with no other: there is no [cluster] in its settings",
        );
    };
    let view = cluster.view().clone();
    let names = |names: &mut dyn Iterator<Item = &String>| array(names.map(|name| format!("\"{name}\"")));
    let owner = |unit: &str| {
        view.members
            .iter()
            .find(|(_, units)| units.iter().any(|own| own == unit))
            .map(|(name, _)| name.as_str())
    };
    let units = cluster.units.iter().map(|unit| {
        Object::new()
            .field("unit", unit.name.as_str())
            .maybe("field", unit.key.as_deref())
            .field("subject", unit.subject.as_str())
            .maybe("member", owner(&unit.name))
            .maybe("behind", view.behind.get(&unit.name).map(String::as_str))
            .end()
    });
    let specs = shared.specs.all();
    let about = specs.iter().filter(|spec| spec.is_about(&cluster.config.into));
    let properties = about.flat_map(|spec| {
        cluster
            .shared_out(spec)
            .into_iter()
            .map(|own| property(cluster, spec, &own, &owner))
            .collect::<Vec<_>>()
    });
    let object = Object::new()
        .field("member", cluster.config.member.as_str())
        .raw("members", &names(&mut view.members.keys()))
        .maybe("why", view.why.as_deref())
        .raw("units", &array(units))
        .raw("properties", &array(properties));
    json(StatusCode::OK, object.end())
}

fn property<'v>(
    cluster: &Cluster,
    spec: &Spec,
    own: &Judged,
    owner: &dyn Fn(&str) -> Option<&'v str>,
) -> String {
    let whys = own
        .whys
        .iter()
        .map(|(field, why)| Object::new().field("field", field.as_str()).field("why", why.as_str()).end());
    let object = Object::new().field("spec", &*spec.name).field("property", own.name.as_str());
    let object = match &own.key {
        Some(field) => object.field("judged", "partitions").field("field", field.as_str()),
        None => object.field("judged", "whole").maybe("member", owner(&cluster.config.into)),
    };
    object.raw("not_by", &array(whys)).end()
}
