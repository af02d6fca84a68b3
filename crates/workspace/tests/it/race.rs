//! Someone exchanges a directory with a link to the outside while files are written.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_workspace::{ChangeKind, FileChange};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::Place;

const N_ROUNDS: usize = 2000;

#[test]
fn no_write_goes_outside() {
    let place = Place::new();
    fs::create_dir(place.inside("d")).unwrap();
    symlink(place.outside(""), place.inside("l")).unwrap();
    let stop = AtomicBool::new(false);
    let (dir, link) = (place.inside("d"), place.inside("l"));
    let mut n_written = 0;
    let mut n_refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for round in 0..N_ROUNDS {
            let written = place.workspace.resolve("d/f").ok().and_then(|target| {
                let after = round.to_string().into_bytes();
                let kind = match place.workspace.read(&target).ok()? {
                    None => ChangeKind::Create { after },
                    Some(before) if round % 3 == 0 => ChangeKind::Delete { before },
                    Some(before) => ChangeKind::Update {
                        before,
                        after,
                        move_to: None,
                    },
                };
                place.commit(vec![FileChange { target, kind }]).ok()
            });
            match written {
                Some(_) => n_written += 1,
                None => n_refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_dir(place.outside("")).unwrap().count(), 0);
    assert!(n_written > 0 && n_refused > 0, "{n_written} {n_refused}");
    let leftover = place
        .tree()
        .into_iter()
        .filter(|(name, _)| name.contains(".agent-tmp-"));
    assert_eq!(leftover.count(), 0);
}
