//! Names of what is made here: numbered, in the order of the query, so that equal queries get equal names.

#[derive(Default)]
pub struct Names {
    count: usize,
}

impl Names {
    pub fn next(&mut self) -> String {
        self.count += 1;
        format!("__outer_{}", self.count)
    }
}
