class A:
    def f():
        x
class B:
    def f():
        y
