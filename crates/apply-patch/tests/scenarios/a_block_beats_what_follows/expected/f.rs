fn a() {
    y();
}

fn b() {
    x();
}
