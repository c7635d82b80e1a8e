//! Behaviour of every store, whatever it is made of.

use std::sync::Arc;

use bytes::Bytes;
use caudal_core::Coded;
use caudal_store::{Created, Directory, Remote, Store, StoreError, open};
use futures::future::join_all;
use object_store::memory::InMemory;

use crate::tally::Tally;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_directory() {
    let root = tempfile::tempdir().unwrap();
    conforms(Arc::new(Directory::open(root.path()).unwrap())).await;
    for hidden in [".parts", ".trash"] {
        let left = std::fs::read_dir(root.path().join(hidden)).unwrap().count();
        assert_eq!(left, 0, "left over in {hidden}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory() {
    conforms(open("memory:").unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_prefix_of_an_object_store() {
    let objects = Arc::new(InMemory::new());
    let other = Remote::new(Arc::clone(&objects) as _, "clusters/ab".into());
    other.put("a/object", Bytes::new()).await.unwrap();
    conforms(Arc::new(Remote::new(objects, "clusters/a".into()))).await;
    assert_eq!(other.list("a").await.unwrap(), ["a/object"], "a neighbour is left alone");
}

pub async fn conforms(store: Arc<dyn Store>) {
    objects_are_created_once_and_replaced(&*store).await;
    folders_are_listed_and_removed(&*store).await;
    bad_names_are_refused(&*store).await;
    one_of_many_creates(&store).await;
    a_reader_sees_the_old_or_the_new(&store).await;
    a_folder_may_go_while_it_is_written_to(&store).await;
    a_journal_works(&store).await;
}

async fn objects_are_created_once_and_replaced(store: &dyn Store) {
    let name = "objects/s1#0-3/x";
    assert_eq!(store.get(name).await.unwrap(), None);
    store.delete(name).await.unwrap();
    assert_eq!(store.create(name, "first".into()).await.unwrap(), Created::New);
    assert_eq!(store.create(name, "second".into()).await.unwrap(), Created::Exists);
    assert_eq!(store.get(name).await.unwrap().unwrap(), "first");
    store.put(name, "third".into()).await.unwrap();
    assert_eq!(store.get(name).await.unwrap().unwrap(), "third");
    assert_eq!(store.get("objects/s1#0-3").await.unwrap(), None, "a folder is no object");
    store.delete(name).await.unwrap();
    assert_eq!(store.get(name).await.unwrap(), None);
    assert_eq!(store.create(name, "fourth".into()).await.unwrap(), Created::New);
    store.put("objects/empty", Bytes::new()).await.unwrap();
    assert_eq!(store.get("objects/empty").await.unwrap().unwrap(), "");
    let large = Bytes::from(vec![7; 3 << 20]);
    assert_eq!(store.create("objects/large", large.clone()).await.unwrap(), Created::New);
    assert_eq!(store.get("objects/large").await.unwrap().unwrap(), large);
}

async fn folders_are_listed_and_removed(store: &dyn Store) {
    assert!(store.list("tree").await.unwrap().is_empty());
    assert!(store.folders("tree").await.unwrap().is_empty());
    for name in ["tree/b/2", "tree/a/z/1", "tree/b/10", "tree/ab/1", "tree/top", "tree/a#/1"] {
        store.put(name, name.into()).await.unwrap();
    }
    let all = ["tree/a#/1", "tree/a/z/1", "tree/ab/1", "tree/b/10", "tree/b/2", "tree/top"];
    assert_eq!(store.list("tree").await.unwrap(), all);
    assert_eq!(store.list("tree/a").await.unwrap(), ["tree/a/z/1"]);
    assert_eq!(store.folders("tree").await.unwrap(), ["a", "a#", "ab", "b"]);
    assert_eq!(store.folders("tree/b").await.unwrap(), [""; 0]);
    store.delete_folder("tree/a").await.unwrap();
    store.delete_folder("tree/a").await.unwrap();
    store.delete_folder("tree/top").await.unwrap();
    let left = ["tree/a#/1", "tree/ab/1", "tree/b/10", "tree/b/2", "tree/top"];
    assert_eq!(store.list("tree").await.unwrap(), left);
    assert_eq!(store.folders("tree").await.unwrap(), ["a#", "ab", "b"]);
    store.put("tree/a/again", Bytes::new()).await.unwrap();
    assert_eq!(store.list("tree/a").await.unwrap(), ["tree/a/again"]);
}

async fn bad_names_are_refused(store: &dyn Store) {
    for bad in ["", "..", "../x", "a/../../x", "/x", "a//b", ".parts/x", "a/"] {
        let refusals = [
            store.create(bad, Bytes::new()).await.err(),
            store.put(bad, Bytes::new()).await.err(),
            store.get(bad).await.err(),
            store.list(bad).await.err(),
            store.folders(bad).await.err(),
            store.delete(bad).await.err(),
            store.delete_folder(bad).await.err(),
        ];
        for refusal in refusals {
            let refusal = refusal.unwrap_or_else(|| panic!("{bad:?} was taken"));
            assert!(matches!(refusal, StoreError::BadName { .. }), "{bad:?}: {refusal}");
            assert_eq!(refusal.code(), "CDL-7004");
        }
    }
}

async fn one_of_many_creates(store: &Arc<dyn Store>) {
    for round in 0..8 {
        let create = |writer: u32| {
            let store = Arc::clone(store);
            let body = Bytes::from(format!("{writer}").repeat(2000));
            tokio::spawn(async move {
                let name = format!("race/{round}/new/x");
                (store.create(&name, body.clone()).await.unwrap(), body)
            })
        };
        let created = join_all((0..8).map(create)).await;
        let winners: Vec<_> =
            created.into_iter().flatten().filter(|(created, _)| *created == Created::New).collect();
        assert_eq!(winners.len(), 1);
        let found = store.get(&format!("race/{round}/new/x")).await.unwrap().unwrap();
        assert_eq!(found, winners[0].1);
    }
}

async fn a_reader_sees_the_old_or_the_new(store: &Arc<dyn Store>) {
    let body = |writer: u8| Bytes::from(vec![writer; 100_000]);
    store.put("replaced", body(0)).await.unwrap();
    let writer = {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for round in 1..30 {
                store.put("replaced", body(round)).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        let found = store.get("replaced").await.unwrap().expect("it is never absent");
        assert_eq!(found, body(found[0]));
    }
    writer.await.unwrap();
    assert_eq!(store.get("replaced").await.unwrap().unwrap(), body(29));
}

async fn a_folder_may_go_while_it_is_written_to(store: &Arc<dyn Store>) {
    let writer = {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for number in 0..30 {
                store.create(&format!("gone/a/b/{number}"), "x".into()).await.unwrap();
                store.put("gone/a/c/x", "x".into()).await.unwrap();
            }
        })
    };
    while !writer.is_finished() {
        for name in store.list("gone").await.unwrap() {
            store.get(&name).await.unwrap();
        }
        store.delete_folder("gone").await.unwrap();
    }
    writer.await.unwrap();
    store.delete_folder("gone").await.unwrap();
    assert!(store.list("gone").await.unwrap().is_empty());
    assert!(store.folders("gone").await.unwrap().is_empty());
}

async fn a_journal_works(store: &Arc<dyn Store>) {
    let mut owner = Tally::load(Arc::clone(store)).await.unwrap();
    for number in 0..3 {
        owner.append(number).await.unwrap();
    }
    let mut zombie = Tally::load(Arc::clone(store)).await.unwrap();
    owner.snapshot().await.unwrap();
    owner.journal.compact().await.unwrap();
    owner.append(3).await.unwrap();
    assert!(matches!(zombie.append(4).await, Err(caudal_store::Error::Fenced { .. })));
    assert_eq!(Tally::load(Arc::clone(store)).await.unwrap().numbers, [0, 1, 2, 3]);
}
