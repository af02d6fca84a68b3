//! Writing, reading and links.

use crate::runner::Test;
use crate::support::{World, run};

pub(crate) const TESTS: &[Test] = &[("writes_end_at_the_roots", writes_end_at_the_roots)];

fn writes_end_at_the_roots() {
    let world = World::new();
    let script = "echo in > in; echo tmp > ../T/t; echo out > ../O/out; echo shm > /dev/shm/x && cat /dev/shm/x; echo /proc/[0-9]*; id -u; pwd; env; ls -l /proc/self/fd; grep -E 'Cap|NoNew|Secc' /proc/self/status; mount | wc -l";
    let outcome = run(&world, &world.policy(), script);
    println!("{:?} {}", outcome.end, outcome.output);
    assert_eq!(world.read("W/in"), "in\n");
    assert!(!world.base.join("O/out").exists());
}
