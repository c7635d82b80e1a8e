//! Rewrite: `mod(a, b)` is `a % b`, which is all that DataFusion knows.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments,
};

pub fn rewrite(expression: &mut Expr) {
    let Expr::Function(call) = expression else { return };
    let [name] = call.name.0.as_slice() else { return };
    if !name.as_ident().is_some_and(|name| name.value.eq_ignore_ascii_case("mod")) {
        return;
    }
    let FunctionArguments::List(list) = &call.args else { return };
    let [
        FunctionArg::Unnamed(FunctionArgExpr::Expr(left)),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(right)),
    ] = list.args.as_slice()
    else {
        return;
    };
    let (left, right) = (Box::new(nested(left)), Box::new(nested(right)));
    *expression = nested(&Expr::BinaryOp { left, op: BinaryOperator::Modulo, right });
}

fn nested(expression: &Expr) -> Expr {
    Expr::Nested(Box::new(expression.clone()))
}
