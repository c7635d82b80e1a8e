//! Round trips: what is encoded comes back as it was.

use arrow::array::{
    AsArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, StringViewArray,
    TimestampMicrosecondArray, UInt64Array,
};

use super::*;

/// Encoding of the only column of a batch, which has to be decoded to the same.
fn sent(column: ArrayRef) -> Option<ColumnEncoding> {
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    let (encoded, encodings) = encode(batch.clone());
    let text = serde_json::to_string(&encodings).unwrap();
    assert_eq!(serde_json::from_str::<Encodings>(&text).unwrap(), encodings, "{text}");
    let given = encoded.schema().field(0).data_type().clone();
    assert_eq!(encodings.schema(&batch.schema()).unwrap().field(0).data_type(), &given);
    assert_eq!(decode(encoded, &encodings).unwrap(), batch, "{text}");
    encodings.0.into_iter().next().flatten()
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn frame(of: Number, bits: Bits, base: i64, step: i64) -> Option<ColumnEncoding> {
    Some(ColumnEncoding::FrameOfReference(FrameOfReference { of, bits, base, step }))
}

#[test]
fn numbers_take_the_bits_that_their_distance_takes() {
    let int = |bits, base| frame(Number::Int64, bits, base, 1);
    assert_eq!(sent(ints(&[7, 7])), int(Bits::B8, 7));
    assert_eq!(sent(ints(&[-5, 250])), int(Bits::B8, -5));
    assert_eq!(sent(ints(&[-5, 251])), int(Bits::B16, -5));
    assert_eq!(sent(ints(&[i64::MAX, i64::MAX - 0xffff])), int(Bits::B16, i64::MAX - 0xffff));
    assert_eq!(sent(ints(&[0, 0x1_0000])), int(Bits::B32, 0));
    assert_eq!(sent(ints(&[i64::MIN, i64::MIN + 0xffff_ffff])), int(Bits::B32, i64::MIN));
    assert_eq!(sent(ints(&[0, 0x1_0000_0000])), None);
    assert_eq!(sent(ints(&[i64::MIN, i64::MAX])), None);
    assert_eq!(sent(ints(&[])), int(Bits::B8, 0));
}

#[test]
fn every_kind_of_number_comes_back_as_it_was() {
    let rows = Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX - 3]));
    assert_eq!(sent(rows), frame(Number::Uint64, Bits::B8, -4, 1));
    let halves = Arc::new(UInt64Array::from(vec![1 << 63, (1 << 63) - 1]));
    assert_eq!(sent(halves), None);
    let dates = |days: [i32; 2]| Arc::new(Date32Array::from(days.to_vec()));
    assert_eq!(sent(dates([-700, 19_000])), frame(Number::Date32, Bits::B16, -700, 1));
    assert_eq!(sent(dates([i32::MIN, i32::MAX])), None, "it would be no smaller");
    let price = Number::Decimal128 { precision: 10, scale: 2 };
    let prices = |cents: [i128; 2]| {
        Arc::new(Decimal128Array::from(cents.to_vec()).with_precision_and_scale(10, 2).unwrap())
    };
    assert_eq!(sent(prices([600, 2400])), frame(price, Bits::B16, 600, 1));
    assert_eq!(sent(prices([1 << 64, 1])), None);
    let yes = Arc::new(BooleanArray::from(vec![true, false]));
    assert_eq!(sent(yes), None);
}

#[test]
fn floats_are_sent_as_integers_if_a_point_is_all_that_makes_them_floats() {
    let floats = |values: [f64; 2]| Arc::new(Float64Array::from(values.to_vec()));
    let float = |divisor, bits, base| frame(Number::Float64 { divisor }, bits, base, 1);
    assert_eq!(sent(floats([17_272.0, 3.0])), float(1, Bits::B16, 3));
    assert_eq!(sent(floats([4.5, -0.3])), float(10, Bits::B8, -3));
    assert_eq!(sent(floats([9_999.99, 0.01])), float(100, Bits::B32, 1));
    for other in [0.001, 0.1 + 0.2, 1.0 / 3.0, 1e15, 4e15, 1e300, f64::INFINITY, f64::MIN_POSITIVE]
    {
        assert_eq!(sent(floats([other, 3.0])), None, "{other}");
    }
    // They are equal to none, or to more than themselves: what is sent says whether they came back.
    for odd in [f64::NAN, -0.0] {
        let batch = RecordBatch::try_from_iter([("c", floats([odd, 1.0]) as ArrayRef)]).unwrap();
        assert!(encode(batch).1.is_empty());
    }
    let far = 1 << 50;
    assert_eq!(sent(floats([far as f64, 7.0 + far as f64])), float(1, Bits::B8, far));
    for farther in [1_i64 << 51, 1 << 52, 1 << 53, 1 << 62] {
        sent(floats([farther as f64, farther as f64]));
    }
}

#[test]
fn whatever_floats_are_they_come_back() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut encoded, mut plain) = (0, 0);
    for _ in 0..20_000 {
        let exact = random.i64(-100_000_000..100_000_000) as f64;
        let value = match random.u8(..4) {
            0 => exact / 10.0,
            1 => exact / 100.0,
            2 => (exact / 100.0).next_up(),
            _ => f64::from_bits(random.u64(..)),
        };
        match value.is_nan() || sent(Arc::new(Float64Array::from(vec![value]))).is_none() {
            true => plain += 1,
            false => encoded += 1,
        }
    }
    assert!(encoded > 5000 && plain > 5000, "{encoded} encoded, {plain} not");
}

#[test]
fn whole_seconds_are_counted_as_seconds() {
    let times = |us: &[Option<i64>]| Arc::new(TimestampMicrosecondArray::from(us.to_vec()));
    let time = |bits, base, step| frame(Number::TimestampUs, bits, base, step);
    let (base, second) = (1_700_000_000_250_000, 1_000_000);
    let whole = [Some(base), Some(base + 300 * second), None];
    assert_eq!(sent(times(&whole)), time(Bits::B16, base, second));
    assert_eq!(sent(times(&[Some(base), Some(base + 1)])), time(Bits::B8, base, 1));
    let zoned = times(&[Some(base)]).as_ref().clone().with_timezone("+01:00");
    assert_eq!(sent(Arc::new(zoned)), None);
}

#[test]
fn nulls_stay_and_what_is_below_them_does_not_count() {
    let nulls = Arc::new(Int64Array::from(vec![Some(1_000_000), None, Some(1_000_001)]));
    assert_eq!(sent(nulls), frame(Number::Int64, Bits::B8, 1_000_000, 1));
    let all = Arc::new(Int64Array::from(vec![None, None]));
    assert_eq!(sent(all), frame(Number::Int64, Bits::B8, 0, 1));
    let sliced = Int64Array::from(vec![Some(i64::MAX), Some(1), None, Some(2)]).slice(1, 3);
    assert_eq!(sent(Arc::new(sliced)), frame(Number::Int64, Bits::B8, 1, 1));
}

#[test]
fn uuids_are_sent_as_their_bytes_and_other_texts_as_they_are() {
    let uuid = "5b5d4b1f-a6c2-901d-fa2a-afaa9e0279ee";
    let texts = |texts: &[Option<&str>]| Arc::new(StringViewArray::from(texts.to_vec()));
    assert_eq!(sent(texts(&[Some(uuid), None, Some(uuid)])), Some(ColumnEncoding::Uuid));
    let sliced = texts(&[Some("x"), Some(uuid), None]).slice(1, 2);
    assert_eq!(sent(Arc::new(sliced)), Some(ColumnEncoding::Uuid));
    let (few, encodings) = encode(
        RecordBatch::try_from_iter([("c", texts(&[None, Some(uuid)]) as ArrayRef)]).unwrap(),
    );
    let few = decode(few, &encodings).unwrap();
    let bytes = few.column(0).as_string_view().data_buffers().iter().map(|b| b.len());
    assert_eq!(bytes.sum::<usize>(), 36, "a null takes no text");
    assert_eq!(sent(texts(&[None, None])), None, "they would be no smaller");
    assert_eq!(sent(texts(&[])), None);
    let upper = uuid.to_uppercase();
    let bare = uuid.replace('-', "");
    let others = [&upper, &bare, &uuid[1..], "", "5b5d4b1f-a6c2-901d-fa2a+afaa9e0279ee"];
    for other in others {
        assert_eq!(sent(texts(&[Some(uuid), Some(other)])), None, "{other}");
    }
    let digits = "g5d4b1f5-a6c2-901d-fa2a-afaa9e0279ee";
    assert_eq!(sent(texts(&[Some(digits)])), None);
}

#[test]
fn a_batch_says_which_of_its_columns_are_encoded() {
    let columns: [(&str, ArrayRef); 2] =
        [("text", Arc::new(StringViewArray::from(vec!["a"]))), ("n", ints(&[70_000]))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let (encoded, encodings) = encode(batch.clone());
    let text = serde_json::to_string(&encodings).unwrap();
    let told = r#"[null,{"steps":{"of":"int64","bits":8,"base":70000,"step":1}}]"#;
    assert_eq!(text, told);
    assert_eq!(encodings.decoded_bytes(1000), 16_000);
    assert_eq!(decode(encoded, &encodings).unwrap(), batch);
    let (same, none) = encode(batch.project(&[0]).unwrap());
    assert_eq!(decode(same, &none).unwrap(), batch.project(&[0]).unwrap());
    assert!(none.is_empty());
}

#[test]
fn what_else_a_schema_says_stays() {
    let said = |what: &str| [("said".to_string(), what.to_string())].into();
    let field = Field::new("n", DataType::Int64, false).with_metadata(said("of a column"));
    let schema = Arc::new(Schema::new_with_metadata(vec![field], said("of all")));
    let batch = RecordBatch::try_new(schema, vec![ints(&[1])]).unwrap();
    let (encoded, encodings) = encode(batch.clone());
    assert_eq!(decode(encoded, &encodings).unwrap(), batch);
}

#[test]
fn what_is_told_of_other_columns_is_refused() {
    let batch = RecordBatch::try_from_iter([("n", ints(&[1]))]).unwrap();
    let (encoded, encodings) = encode(batch.clone());
    let twice = Encodings([encodings.0.clone(), encodings.0.clone()].concat());
    assert!(twice.schema(&batch.schema()).is_err());
    assert!(decode(encoded.clone(), &twice).is_err());
    let uuid = Encodings(vec![Some(ColumnEncoding::Uuid)]);
    let error = uuid.schema(&batch.schema()).unwrap_err().to_string();
    assert!(error.contains("column \"n\" is encoded from Utf8View, and is Int64"), "{error}");
    assert!(decode(encoded, &uuid).is_err());
    for bits in ["7", "64", "\"8\""] {
        let told = format!(r#"[{{"steps":{{"of":"int64","bits":{bits},"base":0,"step":1}}}}]"#);
        assert!(serde_json::from_str::<Encodings>(&told).is_err(), "{told}");
    }
}

/// From a client of any make: numbers wrap around, and decimals of no such precision are refused.
#[test]
fn steps_that_lead_beyond_all_numbers_do_not_panic() {
    let (encoded, _) = encode(RecordBatch::try_from_iter([("n", ints(&[0, 255]))]).unwrap());
    let told = |of| Encodings(vec![frame(of, Bits::B8, i64::MAX, i64::MAX)]);
    for of in [Number::Int64, Number::Uint64, Number::Date32, Number::TimestampUs] {
        assert_eq!(decode(encoded.clone(), &told(of)).unwrap().num_rows(), 2);
    }
    let nothing = Number::Float64 { divisor: 0 };
    assert_eq!(decode(encoded.clone(), &told(nothing)).unwrap().num_rows(), 2);
    let impossible = Number::Decimal128 { precision: 99, scale: 2 };
    assert!(decode(encoded, &told(impossible)).is_err());
}
