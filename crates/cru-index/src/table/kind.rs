//! The tables of a record as rows: which columns each has of its own, and what hands its rows out.

use super::column::{self, Column};
use super::row::{RowItem, RowsOf};
use crate::record::Table;

impl Table {
    /// The columns of its rows that are not those of every row.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Phases => column::PHASE,
            Self::Steps => column::STEP,
            Self::Decisions => column::DECISION,
            Self::Errors => column::ERROR,
            Self::User => column::USER,
            Self::Subagents => column::SUBAGENTS,
            Self::Files => column::FILE,
            Self::Tasks => column::TASK,
        }
    }

    /// What hands out its rows.
    pub fn rows(self) -> RowsOf {
        match self {
            Self::Phases => |it| Box::new(it.phases.iter().map(|it| (None, RowItem::Phase(it)))),
            Self::Steps => |it| Box::new(it.steps.iter().map(|it| (it.phase.as_deref(), RowItem::Step(it)))),
            Self::Decisions => {
                |it| Box::new(it.decisions.iter().map(|it| (it.phase.as_deref(), RowItem::Decision(it))))
            }
            Self::Errors => |it| Box::new(it.errors.iter().map(|it| (it.phase.as_deref(), RowItem::Error(it)))),
            Self::User => |it| Box::new(it.user.iter().map(|it| (it.phase.as_deref(), RowItem::User(it)))),
            Self::Subagents => {
                |it| Box::new(it.subagents.iter().map(|it| (it.phase.as_deref(), RowItem::Subagent(it))))
            }
            Self::Files => |it| Box::new(it.files.iter().map(|it| (it.phase.as_deref(), RowItem::File(it)))),
            Self::Tasks => |it| Box::new(it.tasks.iter().map(|it| (None, RowItem::Task(it)))),
        }
    }
}
