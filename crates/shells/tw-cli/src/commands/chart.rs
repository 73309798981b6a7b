//! `tracewise chart`: sequence charts.

mod draw;

use super::Runnable;
use super::import::Diagram;
use crate::context::{Context, Outcome};
use clap::{Args, Subcommand};

/// Sequence charts: pictures of them, and charts of sequence diagrams
#[derive(Args, Debug)]
pub struct Chart {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// A picture of the charts, as SVG or PNG; or the order of their events, as DOT
    Draw(draw::Draw),
    /// Read a sequence diagram of PlantUML or Mermaid and print its charts
    Import(Diagram),
}

impl Runnable for Chart {
    fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Draw(own) => own.run(context),
            Action::Import(own) => own.run(context),
        }
    }
}
