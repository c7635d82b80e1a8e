//! Of two processes of one name the second is refused.

use caudal_broker::Error;
use caudal_core::{Coded, codes};

use crate::support::{connect, queues, shared_rabbit, soon};

#[tokio::test]
async fn a_name_belongs_to_one_until_it_is_gone() {
    let rabbit = shared_rabbit().await;
    let (first, second, third) =
        (connect(rabbit).await, connect(rabbit).await, connect(rabbit).await);
    let name = queues().session.0;
    soon(first.hold_name(&name, "a")).await.unwrap();
    soon(first.hold_name(&name, "a")).await.expect("it has it");
    soon(second.hold_name(&format!("{name}-2"), "a")).await.expect("another name");
    soon(second.hold_name(&name, "b")).await.expect("another cluster");
    let refused = soon(second.hold_name(&name, "a")).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("{name} is running already"));
    assert_eq!(refused.code(), codes::NODE_RUNNING);
    // One that comes in the place of one that is gone need not wait for long.
    drop(first);
    soon(third.hold_name(&name, "a")).await.unwrap();
    let refused = soon(second.hold_name(&name, "a")).await.unwrap_err();
    assert!(matches!(refused, Error::NameTaken { .. }), "{refused}");
}
