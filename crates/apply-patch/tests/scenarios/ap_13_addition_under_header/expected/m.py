def a():
    # note
    pass

def b():
    pass
