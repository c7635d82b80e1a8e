//! Joins as they are written: what they are made by, and which sides can be seen after them.

use datafusion::sql::sqlparser::ast::{JoinConstraint, JoinOperator};

macro_rules! constraint {
    ($join:expr) => {{
        use JoinOperator::*;
        match $join {
            Join(by) | Inner(by) | Left(by) | LeftOuter(by) | Right(by) | RightOuter(by)
            | FullOuter(by) | CrossJoin(by) | Semi(by) | LeftSemi(by) | RightSemi(by)
            | Anti(by) | LeftAnti(by) | RightAnti(by) | StraightJoin(by) => Some(by),
            AsOf { constraint, .. } => Some(constraint),
            CrossApply | OuterApply | ArrayJoin | LeftArrayJoin | InnerArrayJoin => None,
        }
    }};
}

/// Constraint by which a join is made.
pub fn constraint(join: &JoinOperator) -> Option<&JoinConstraint> {
    constraint!(join)
}

pub fn constraint_mut(join: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    constraint!(join)
}

/// Whether columns of the same name are what it is made by.
pub fn is_by_name(join: &JoinOperator) -> bool {
    matches!(constraint(join), Some(JoinConstraint::Using(_) | JoinConstraint::Natural))
}

/// The sides of a join whose columns can be seen after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    Both,
    Left,
    Right,
}

impl Keeps {
    pub fn of(join: &JoinOperator) -> Self {
        use JoinOperator::{Anti, LeftAnti, LeftSemi, RightAnti, RightSemi, Semi};
        match join {
            Semi(_) | LeftSemi(_) | Anti(_) | LeftAnti(_) => Keeps::Left,
            RightSemi(_) | RightAnti(_) => Keeps::Right,
            _ => Keeps::Both,
        }
    }
}
