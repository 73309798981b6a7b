//! The layer itself: from what `tracing` tells to records.

use crate::callsite::{END, ENTER, EXIT, Interest, name_of};
use crate::observer::Observer;
use crate::record::{Collector, Fields, Namer, Record, this_thread};
use std::borrow::Cow;
use std::sync::Arc;
use tracing::span::{Attributes, Id};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

/// A layer for a [`tracing_subscriber::Registry`]; made by [`crate::builder`].
pub struct ObserverLayer {
    pub(crate) observer: Arc<Observer>,
    pub(crate) enters: bool,
}

/// What a span keeps of its fields.
struct SpanFields(Fields);

impl ObserverLayer {
    fn interest(&self, metadata: &'static Metadata<'static>) -> Interest {
        match self.observer.writes {
            true => Interest::All,
            false => self.observer.callsites.interest(metadata, &self.observer.names),
        }
    }

    /// Which fields of a span to keep: those of a position, to be shown; of others, those that the specification reads.
    fn keep(&self, interest: Interest) -> impl Fn(&str) -> bool + '_ {
        move |field: &str| interest == Interest::All || self.observer.names.reads(field)
    }

    /// An event about a span: its name with an ending, its fields and those of the spans around it.
    fn about<S>(&self, span: &SpanRef<'_, S>, ending: &'static str)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let metadata = span.metadata();
        if self.interest(metadata) != Interest::All {
            return;
        }
        let name = match ending {
            "" => Cow::Borrowed(metadata.name()),
            _ => Cow::Owned(format!("{}{ending}", metadata.name())),
        };
        let mut fields = Fields::new();
        inherit(&mut fields, span);
        let counts = self.observer.names.counts(&name, fields.iter().map(|(field, _)| *field));
        if counts || self.observer.writes {
            span.scope().skip(1).for_each(|around| inherit(&mut fields, &around));
            self.observer.observe(Record { name, fields, thread: this_thread(), metadata }, counts);
        }
    }
}

/// Adds the fields of a span that are not there yet: the innermost counts.
fn inherit<S>(fields: &mut Fields, span: &SpanRef<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    if let Some(SpanFields(own)) = span.extensions().get::<SpanFields>() {
        for (name, value) in own {
            if !fields.iter().any(|(known, _)| known == name) {
                fields.push((name, value.clone()));
            }
        }
    }
}

impl<S> Layer<S> for ObserverLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let interest = self.interest(attributes.metadata());
        let Some(span) = context.span(id).filter(|_| interest != Interest::None) else { return };
        let keep = self.keep(interest);
        let mut collector = Collector { keep: &keep, fields: Fields::new() };
        attributes.record(&mut collector);
        span.extensions_mut().insert(SpanFields(collector.fields));
        self.about(&span, "");
    }

    fn on_record(&self, id: &Id, values: &tracing::span::Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        if let Some(SpanFields(fields)) = extensions.get_mut::<SpanFields>() {
            let keep = self.keep(self.interest(span.metadata()));
            let mut collector = Collector { keep: &keep, fields: std::mem::take(fields) };
            values.record(&mut collector);
            *fields = collector.fields;
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        if self.interest(metadata) != Interest::All {
            return;
        }
        let mut namer = Namer::default();
        event.record(&mut namer);
        let explicit = name_of(metadata);
        let (name, named_by) = match namer {
            Namer { event: Some(name), .. } => (Cow::Owned(name), "event"),
            Namer { message: Some(name), .. } if explicit == metadata.target() => {
                (Cow::Owned(name), "message")
            }
            _ => (Cow::Borrowed(explicit), ""),
        };
        let counts = self.observer.names.counts(&name, event.fields().map(|field| field.name()));
        if !counts && !self.observer.writes {
            return;
        }
        let keep = |field: &str| field != named_by;
        let mut collector = Collector { keep: &keep, fields: Fields::new() };
        event.record(&mut collector);
        let mut fields = collector.fields;
        if let Some(scope) = context.event_scope(event) {
            scope.for_each(|span| inherit(&mut fields, &span));
        }
        self.observer.observe(Record { name, fields, thread: this_thread(), metadata }, counts);
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if self.enters
            && let Some(span) = context.span(id)
        {
            self.about(&span, ENTER);
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        if self.enters
            && let Some(span) = context.span(id)
        {
            self.about(&span, EXIT);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id) {
            self.about(&span, END);
        }
    }
}
