//! Rewrite: a text of a length is cut to it.
//!
//! ```text
//! CAST(s AS VARCHAR(3))    ==>    left(CAST(s AS VARCHAR), 3)
//! CAST(s AS CHAR(3))       ==>    rtrim(left(CAST(s AS VARCHAR), 3))
//! CAST(s AS CHAR)          ==>    rtrim(left(CAST(s AS VARCHAR), 1))
//! ```
//!
//! DataFusion forgets the length. The blanks at the end of a CHAR say nothing, so it has none here; PostgreSQL shows as many as fit.

use datafusion::sql::sqlparser::ast::{
    CastKind, CharacterLength, DataType, Expr, TypedString, Value,
};

use super::call;

pub fn rewrite(expression: &mut Expr) {
    let length = match expression {
        Expr::Cast { data_type, array: false, .. }
        | Expr::TypedString(TypedString { data_type, .. }) => length(data_type),
        _ => None,
    };
    let Some(Length { letters, is_padded }) = length else { return };
    let mut text = std::mem::replace(expression, Expr::Value(Value::Null.into()));
    match &mut text {
        Expr::Cast { data_type, .. } => *data_type = DataType::Varchar(None),
        Expr::TypedString(typed) => {
            text = Expr::Cast {
                kind: CastKind::Cast,
                expr: Box::new(Expr::Value(typed.value.clone())),
                data_type: DataType::Varchar(None),
                array: false,
                format: None,
            };
        }
        _ => {}
    }
    let letters = Expr::Value(Value::Number(letters.to_string(), false).into());
    let cut = call("left", vec![text, letters]);
    *expression = if is_padded { call("rtrim", vec![cut]) } else { cut };
}

struct Length {
    letters: u64,
    /// With blanks, which say nothing.
    is_padded: bool,
}

fn length(data_type: &DataType) -> Option<Length> {
    use DataType::{Char, CharVarying, Character, CharacterVarying, Nvarchar, Varchar};
    let (length, is_padded) = match data_type {
        Varchar(length) | Nvarchar(length) | CharVarying(length) | CharacterVarying(length) => {
            (length.as_ref()?, false)
        }
        Char(None) | Character(None) => return Some(Length { letters: 1, is_padded: true }),
        Char(Some(length)) | Character(Some(length)) => (length, true),
        _ => return None,
    };
    match length {
        CharacterLength::IntegerLength { length, .. } => {
            Some(Length { letters: *length, is_padded })
        }
        CharacterLength::Max => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::GenericDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn texts_are_cut_to_their_lengths() {
        for (cast, cut) in [
            ("CAST(s AS VARCHAR(3))", "left(CAST(s AS VARCHAR), 3)"),
            ("s::char(2)", "rtrim(left(s::VARCHAR, 2))"),
            ("TRY_CAST(s AS CHARACTER VARYING(4))", "left(TRY_CAST(s AS VARCHAR), 4)"),
            ("VARCHAR(2) 'abc'", "left(CAST('abc' AS VARCHAR), 2)"),
            ("CAST(s AS CHAR)", "rtrim(left(CAST(s AS VARCHAR), 1))"),
            ("CAST(s AS VARCHAR)", "CAST(s AS VARCHAR)"),
            ("CAST(s AS TEXT)", "CAST(s AS TEXT)"),
        ] {
            let parser = Parser::new(&GenericDialect {});
            let mut expression = parser.try_with_sql(cast).unwrap().parse_expr().unwrap();
            rewrite(&mut expression);
            assert_eq!(expression.to_string(), cut);
        }
    }
}
