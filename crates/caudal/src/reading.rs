//! The files of a job's tables, opened for those who need them.

use std::sync::Arc;

use caudal_client::Upload;
use caudal_core::{TableId, limits};
use caudal_planner::ROW_COLUMN;
use caudal_protocol::calls::TableNeeds;
use caudal_source::{Options, Table};

use crate::error::Error;

/// Treatment of rows that do not fit.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub strict: bool,
    pub judge_all_columns: bool,
    /// None: all may be.
    pub rejected_percent_max: Option<f64>,
    pub keep_rejects: bool,
}

impl Default for Reading {
    fn default() -> Self {
        let rejected_percent_max = Some(f64::from(limits::REJECTED_PERCENT_MAX));
        Self { strict: false, judge_all_columns: false, rejected_percent_max, keep_rejects: false }
    }
}

impl Reading {
    /// Opens the tables that are needed, for the columns and rows that are, smallest first: what joins with a large table is
    /// then complete before the large one ends, and answers can come early.
    pub fn uploads<'a>(
        self,
        tables: &[Table],
        chunk_bytes: usize,
        needs: impl Fn(TableId) -> &'a TableNeeds,
    ) -> Result<Vec<Upload>, Error> {
        let mut uploads = vec![];
        for (index, spec) in tables.iter().enumerate() {
            let table = TableId::from(index);
            let needs = needs(table);
            let Some(needed) = needs.sent() else { continue };
            // The column after the last numbers the rows.
            let visible = spec.schema().fields().len();
            let columns = needed.iter().copied().filter(|column| *column < visible).collect();
            let position = needed.contains(&visible).then(|| ROW_COLUMN.to_string());
            let options = Options {
                chunk_bytes,
                record_bytes_max: limits::CSV_RECORD_BYTES_MAX,
                strict: self.strict,
                judge_all_columns: self.judge_all_columns,
                rejected_percent_max: self.rejected_percent_max,
                position,
                rows: needs.rows.clone().map(Arc::new),
                keep_raw_rejects: self.keep_rejects,
            };
            uploads.push(Upload { table, source: spec.open(columns, options)? });
        }
        // Of a pipe it is not known when it ends.
        uploads.sort_by_key(|upload| upload.source.total_bytes().unwrap_or(u64::MAX));
        Ok(uploads)
    }
}
