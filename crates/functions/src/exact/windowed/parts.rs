//! An aggregate over a frame that moves, put together of two parts; nothing is ever taken back.
//!
//! ```text
//! rows of the frame      a  b  c  d | e  f  g      + h      - a
//! older: what each and all after it are, the oldest on top      [d], [cd], [bcd], [abcd]
//! newer: what all of them are together                          [efg]
//! ```
//!
//! A row that enters becomes part of the newer; one that leaves is the top of the older. When those are used up, the newer become
//! older, one by one from the last: each row is merged twice in its life, however long the frame. Rows stay in their
//! order, for aggregates that mind it.

use std::mem::take;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use arrow::datatypes::{FieldRef, Schema};
use caudal_core::limits;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::scalar::ScalarValue;

use super::listed::bytes_of;
use crate::bounded::TooLarge;

type State = Vec<ScalarValue>;

#[derive(Debug)]
pub struct Parts {
    call: Call,
    older: Vec<State>,
    newer: Option<State>,
    /// The rows that the newer part is of.
    rows: Vec<Vec<ArrayRef>>,
}

impl Parts {
    pub fn new(function: AggregateUDF, arguments: AccumulatorArgs<'_>) -> Result<Self> {
        let call = Call::new(function, arguments);
        // What cannot be called is told before the first row.
        call.accumulator()?;
        Ok(Self { call, older: vec![], newer: None, rows: vec![] })
    }

    fn make_older(&mut self) -> Result<()> {
        let rows = take(&mut self.rows);
        let Some(first) = rows.first() else {
            return internal_err!("more rows leave a frame than are in it");
        };
        let columns = (0..first.len()).map(|column| {
            let pieces: Vec<&dyn Array> = rows.iter().map(|piece| piece[column].as_ref()).collect();
            Ok(concat(&pieces)?)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        self.newer = None;
        let mut states_bytes = 0;
        for row in (0..columns[0].len()).rev() {
            let mut accumulator = self.call.accumulator()?;
            let row: Vec<_> = columns.iter().map(|column| column.slice(row, 1)).collect();
            accumulator.update_batch(&row)?;
            if let Some(after) = self.older.last() {
                merge(accumulator.as_mut(), after)?;
            }
            let state = accumulator.state()?;
            states_bytes += state.iter().map(bytes_of).sum::<u128>();
            if states_bytes > limits::FUNCTION_BATCH_BYTES_MAX as u128 {
                let (function, rows) = (self.call.function.name(), self.older.len() + 1);
                return Err(TooLarge::batch(function, rows, states_bytes).into());
            }
            self.older.push(state);
        }
        Ok(())
    }
}

impl Accumulator for Parts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        // An accumulator gives its state once.
        let mut accumulator = self.call.accumulator()?;
        if let Some(newer) = &self.newer {
            merge(accumulator.as_mut(), newer)?;
        }
        accumulator.update_batch(values)?;
        self.newer = Some(accumulator.state()?);
        self.rows.push(values.to_vec());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut rows = values.first().map_or(0, |column| column.len());
        while rows > 0 {
            if self.older.is_empty() {
                self.make_older()?;
            }
            let leaving = rows.min(self.older.len());
            self.older.truncate(self.older.len() - leaving);
            rows -= leaving;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut accumulator = self.call.accumulator()?;
        for part in self.older.last().into_iter().chain(&self.newer) {
            merge(accumulator.as_mut(), part)?;
        }
        accumulator.evaluate()
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("frames are not merged")
    }

    fn state(&mut self) -> Result<State> {
        internal_err!("frames are not merged")
    }

    fn size(&self) -> usize {
        let states = self.older.iter().chain(&self.newer).flatten();
        let rows = self.rows.iter().flatten();
        size_of_val(self)
            + states.map(ScalarValue::size).sum::<usize>()
            + rows.map(|column| column.get_array_memory_size()).sum::<usize>()
    }
}

fn merge(accumulator: &mut dyn Accumulator, state: &State) -> Result<()> {
    let state: Result<Vec<_>> = state.iter().map(ScalarValue::to_array).collect();
    accumulator.merge_batch(&state?)
}

/// A call of an aggregate, to be begun again and again.
#[derive(Debug)]
struct Call {
    function: AggregateUDF,
    return_field: FieldRef,
    schema: Schema,
    ignore_nulls: bool,
    order_bys: Vec<PhysicalSortExpr>,
    is_reversed: bool,
    name: String,
    is_distinct: bool,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl Call {
    fn new(function: AggregateUDF, arguments: AccumulatorArgs<'_>) -> Self {
        Self {
            function,
            return_field: arguments.return_field,
            schema: arguments.schema.clone(),
            ignore_nulls: arguments.ignore_nulls,
            order_bys: arguments.order_bys.to_vec(),
            is_reversed: arguments.is_reversed,
            name: arguments.name.to_string(),
            is_distinct: arguments.is_distinct,
            exprs: arguments.exprs.to_vec(),
            expr_fields: arguments.expr_fields.to_vec(),
        }
    }

    fn accumulator(&self) -> Result<Box<dyn Accumulator>> {
        self.function.accumulator(AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: self.is_reversed,
            name: &self.name,
            is_distinct: self.is_distinct,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        })
    }
}
