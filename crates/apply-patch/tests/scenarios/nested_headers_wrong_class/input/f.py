class A:
    def f():
        x
class B:
    pass
