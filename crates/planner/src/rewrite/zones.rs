//! Rewrite: TIMESTAMP WITH TIME ZONE has one.
//!
//! ```text
//! CAST(x AS TIMESTAMPTZ)    ==>    arrow_cast(x, 'Timestamp(Nanosecond, Some("+00:00"))')
//! ```
//!
//! DataFusion takes that of the session, of which we have none: it would be a timestamp without a zone, and `AT TIME ZONE` would take
//! its hours for those of the zone instead of converting them. Ours is UTC.

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, TimezoneInfo, TypedString, Value,
};

pub fn rewrite(expression: &mut Expr) {
    let data_type = match expression {
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => {
            data_type
        }
        _ => return,
    };
    let Some(zoned) = zoned(data_type) else { return };
    let (value, function) = match std::mem::replace(expression, Expr::Value(Value::Null.into())) {
        Expr::Cast { kind: CastKind::TryCast | CastKind::SafeCast, expr, .. } => {
            (*expr, "arrow_try_cast")
        }
        Expr::Cast { expr, .. } => (*expr, "arrow_cast"),
        Expr::TypedString(typed) => (Expr::Value(typed.value), "arrow_cast"),
        other => (other, "arrow_cast"),
    };
    *expression = call(function, vec![value, text(zoned)]);
}

/// The name that Arrow has for it.
fn zoned(data_type: &DataType) -> Option<String> {
    let DataType::Timestamp(digits, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) = data_type
    else {
        return None;
    };
    let unit = match digits {
        None | Some(9) => "Nanosecond",
        Some(6) => "Microsecond",
        Some(3) => "Millisecond",
        Some(0) => "Second",
        Some(_) => return None,
    };
    Some(format!("Timestamp({unit}, Some(\"+00:00\"))"))
}

fn text(text: String) -> Expr {
    Expr::Value(Value::SingleQuotedString(text).into())
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let unnamed = |argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument));
    let arguments = FunctionArgumentList {
        duplicate_treatment: None,
        args: arguments.into_iter().map(unnamed).collect(),
        clauses: vec![],
    };
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(arguments),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}
