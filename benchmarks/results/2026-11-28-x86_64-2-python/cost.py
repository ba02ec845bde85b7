import time, zyx, numpy as np
x=zyx.asarray(np.ones((4,4),"float32")); y=zyx.asarray(np.full((4,4),2,"float32"))
def t(f,n):
    best=9
    for _ in range(5):
        c=time.process_time()
        for _ in range(n): f()
        best=min(best,(time.process_time()-c)/n)
    return best*1e6
print("x+y", t(lambda: x+y,2000)); print("sin", t(lambda: zyx.sin(x),2000)); print("sum", t(lambda: zyx.sum(x,axis=0),2000)); print("x[0]", t(lambda: x[0],2000))
f=zyx.jit(lambda *a: a[0]+a[1]+a[9]); args=[zyx.asarray(np.full(4,i,"float32")) for i in range(10)]
f(*args); print("jit10", t(lambda: f(*args),500))
print("item", t(lambda: x[0,0].item(), 200))
