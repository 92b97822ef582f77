/* See pool.h. */
#include "gss/pool.h"

#include <errno.h>
#include <pthread.h>

/* libkrb5 keeps its large things on the heap. */
#define STACK_BYTES (512u << 10)

struct sgss_pool {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    void (*run)(void *job);
    size_t max, first, n; /* a ring */
    void *jobs[];
};

int sgss_thread_start(void *(*run)(void *data), void *data)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int r = pthread_attr_init(&attributes);

    if (r != 0)
        return -r;
    r = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (r == 0)
        r = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (r == 0)
        r = pthread_create(&thread, &attributes, run, data);
    (void)pthread_attr_destroy(&attributes); /* always succeeds */
    return -r;
}

static void *work(void *data)
{
    struct sgss_pool *p = data;

    for (;;) {
        void *job;

        pthread_mutex_lock(&p->lock);
        while (p->n == 0)
            pthread_cond_wait(&p->filled, &p->lock);
        job = p->jobs[p->first];
        p->first = (p->first + 1) % p->max;
        p->n--;
        pthread_mutex_unlock(&p->lock);
        p->run(job);
    }
    return NULL;
}

int sgss_pool_new(size_t threads, size_t max_jobs, void (*run)(void *job), struct sgss_pool **ret)
{
    struct sgss_pool *p = calloc(1, sizeof(*p) + max_jobs * sizeof(p->jobs[0]));
    int r = 0;

    if (!p)
        return -ENOMEM;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    p->run = run;
    p->max = max_jobs;
    for (size_t i = 0; r == 0 && i < threads; i++)
        r = sgss_thread_start(work, p);
    if (r < 0)
        return r; /* the program ends */
    *ret = p;
    return 0;
}

int sgss_pool_put(struct sgss_pool *p, void *job)
{
    int r = 0;

    pthread_mutex_lock(&p->lock);
    if (p->n == p->max) {
        r = -EBUSY;
    } else {
        p->jobs[(p->first + p->n++) % p->max] = job;
        pthread_cond_signal(&p->filled);
    }
    pthread_mutex_unlock(&p->lock);
    return r;
}
