//! `inherit!(name, signature)`: methods of an aggregate that are those of the one it has inside.

macro_rules! inherit {
    ($($method:ident),+ $(,)?) => { $( inherit_one!($method); )+ };
}

macro_rules! inherit_one {
    (name) => {
        fn name(&self) -> &str {
            self.inner.name()
        }
    };
    (aliases) => {
        fn aliases(&self) -> &[String] {
            self.inner.aliases()
        }
    };
    (signature) => {
        fn signature(&self) -> &datafusion::logical_expr::Signature {
            self.inner.signature()
        }
    };
    (return_type) => {
        fn return_type(
            &self,
            arguments: &[arrow::datatypes::DataType],
        ) -> datafusion::common::Result<arrow::datatypes::DataType> {
            self.inner.return_type(arguments)
        }
    };
    (state_fields) => {
        fn state_fields(
            &self,
            arguments: datafusion::logical_expr::function::StateFieldsArgs<'_>,
        ) -> datafusion::common::Result<Vec<arrow::datatypes::FieldRef>> {
            self.inner.state_fields(arguments)
        }
    };
    (groups_accumulator_supported) => {
        fn groups_accumulator_supported(
            &self,
            arguments: datafusion::logical_expr::function::AccumulatorArgs<'_>,
        ) -> bool {
            self.inner.groups_accumulator_supported(arguments)
        }
    };
}
