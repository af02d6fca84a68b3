//! Other machines: nested, without user namespaces, as an ordinary user.

use crate::runner::Test;
use crate::support::{World, again, available, run};

pub(crate) const TESTS: &[Test] = &[("inside_our_own_sandbox", inside_our_own_sandbox)];

fn inside_our_own_sandbox() {
    let _ = available;
    let world = World::new();
    let me = std::env::current_exe().unwrap();
    let copy = world.base.join("W/it");
    std::fs::copy(me, copy).unwrap();
    let _ = again;
    let script =
        "TEST_ROLE=oneshot ./it sh -c 'echo $AGENT_SANDBOX; echo x > in; echo x > ../O/out'";
    let outcome = run(&world, &world.policy(), script);
    assert!(
        outcome.output.starts_with("no-namespaces"),
        "{}",
        outcome.output
    );
    assert_eq!(world.read("W/in"), "x\n");
    assert!(!world.base.join("O/out").exists());
}
