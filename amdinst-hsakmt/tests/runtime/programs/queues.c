/* AQL queues, by hand: producers that ring out of order, barriers, several queues, queues that end with work in them. */
#include "hsa.h"
#include <pthread.h>
#include <sched.h>

enum { LIMIT = 20, PRODUCERS = 8, PACKETS = 400 };

static const hsa_signal_t none;

/* Two producers: the one with the lower number rings last. */
static int swapped(void) {
    hsa_queue_t *queue = new_queue(64);
    hsa_signal_t done = new_signal(200);
    for (int round = 0; round < 100; ++round) {
        uint64_t first = reserve(queue), second = reserve(queue);
        put_barrier(queue, second, 1, 0, NULL, done);
        put_barrier(queue, first, 1, 0, NULL, done);
        ring(queue, second);
        ring(queue, first);
    }
    int good = ends(done, LIMIT);
    CHECK(hsa_queue_destroy(queue));
    printf("swapped: %s\n", good ? "all packets ran" : "packets were lost");
    return good;
}

static struct {
    hsa_queue_t *queue;
    hsa_signal_t done;
    uint64_t kernel;
    void *arguments;
} work;

static void *produce(void *data) {
    unsigned state = (unsigned)(size_t)data + 1;
    for (int i = 0; i < PACKETS; ++i) {
        uint64_t number = reserve(work.queue);
        state = state * 1664525 + 1013904223;
        if (state >> 30 == 0) sched_yield();
        if (i % 2) put_barrier(work.queue, number, 1, 0, NULL, work.done);
        else put_dispatch(work.queue, number, work.kernel, work.arguments, work.done);
        if (state >> 30 <= 1) sched_yield();
        ring(work.queue, number);
    }
    return NULL;
}

/* Many producers on one ring, which is much smaller than what they put into it. */
static int producers(void) {
    pthread_t threads[PRODUCERS];
    unsigned *sum = shared(4);
    work.queue = new_queue(64);
    work.done = new_signal(PRODUCERS * PACKETS);
    work.kernel = kernel("count.kd");
    *(void **)(work.arguments = shared(256)) = sum;
    for (size_t i = 0; i < PRODUCERS; ++i) pthread_create(&threads[i], NULL, produce, (void *)i);
    for (int i = 0; i < PRODUCERS; ++i) pthread_join(threads[i], NULL);
    int good = ends(work.done, LIMIT);
    printf("producers: %s, %u work-items\n", good ? "all packets ran" : "packets were lost", *sum);
    CHECK(hsa_queue_destroy(work.queue));
    return good;
}

/* A barrier waits for all of its signals or for one, and what is behind it waits too. */
static int barriers(void) {
    hsa_queue_t *queue = new_queue(64);
    unsigned *sum = shared(4);
    void **arguments = shared(256);
    *arguments = sum;
    for (int all = 0; all < 2; ++all) {
        hsa_signal_t waited[3] = {new_signal(1), none, new_signal(1)}, barrier = new_signal(1), behind = new_signal(1);
        uint64_t first = reserve(queue), second = reserve(queue);
        put_barrier(queue, first, all, 3, waited, barrier);
        put_dispatch(queue, second, kernel("count.kd"), arguments, behind);
        ring(queue, second);
        int before = ends(barrier, 0.05) || ends(behind, 0.05);
        hsa_signal_store_screlease(waited[2], 0);
        int one = ends(behind, all ? 0.05 : LIMIT);
        hsa_signal_store_screlease(waited[0], 0);
        int both = ends(barrier, LIMIT) && ends(behind, LIMIT);
        printf("barrier-%s: with no signal %d, with one %d, with both %d\n", all ? "and" : "or", before, one, both);
    }
    CHECK(hsa_queue_destroy(queue));
    printf("%u work-items\n", *sum);
    return *sum == 128;
}

/* Each queue waits for the one before it; the first is let go last. */
static int several(void) {
    enum { QUEUES = 6 };
    hsa_queue_t *queues[QUEUES];
    hsa_signal_t turns[QUEUES + 1];
    unsigned *sum = shared(4);
    void **arguments = shared(256);
    *arguments = sum;
    for (int i = 0; i <= QUEUES; ++i) turns[i] = new_signal(1);
    for (int i = 0; i < QUEUES; ++i) {
        queues[i] = new_queue(64);
        uint64_t first = reserve(queues[i]), second = reserve(queues[i]);
        put_barrier(queues[i], first, 1, 1, &turns[i], none);
        put_dispatch(queues[i], second, kernel("count.kd"), arguments, turns[i + 1]);
        ring(queues[i], second);
    }
    int early = ends(turns[QUEUES], 0.05);
    hsa_signal_store_screlease(turns[0], 0);
    int good = ends(turns[QUEUES], LIMIT);
    for (int i = 0; i < QUEUES; ++i) CHECK(hsa_queue_destroy(queues[i]));
    printf("several queues: %s, %u work-items\n", !early && good ? "one after the other" : "not in order", *sum);
    return !early && good;
}

/* Queues that wait for what never comes, with packets behind that, end at once; another goes on. Many of them, for the runtime's
   threads talk by events then. */
static int pending(void) {
    hsa_queue_t *other = new_queue(64);
    hsa_signal_t never = new_signal(1), done = new_signal(1);
    unsigned *sum = shared(4);
    void **arguments = shared(256);
    *arguments = sum;
    uint64_t number;
    double longest = 0;
    for (int round = 0; round < 50; ++round) {
        hsa_queue_t *queue = new_queue(64);
        put_barrier(queue, reserve(queue), 1, 1, &never, none);
        for (int i = 0; i < 40; ++i) put_dispatch(queue, number = reserve(queue), kernel("count.kd"), arguments, none);
        ring(queue, number);
        double start = seconds();
        CHECK(hsa_queue_destroy(queue));
        if (seconds() - start > longest) longest = seconds() - start;
    }
    put_dispatch(other, number = reserve(other), kernel("count.kd"), arguments, done);
    ring(other, number);
    int good = ends(done, LIMIT);
    CHECK(hsa_queue_destroy(other));
    printf("pending: ended %s, %u work-items\n", longest < 5 ? "at once" : "late", *sum);
    return good && longest < 5;
}

/* So does one whose kernel runs without end. */
static int running(void) {
    hsa_queue_t *queue = new_queue(64);
    void **arguments = shared(256);
    *arguments = shared(4);
    uint64_t number = reserve(queue);
    put_dispatch(queue, number, kernel("endless.kd"), arguments, none);
    ring(queue, number);
    /* It has begun when the packet's slot can be free no more: there is no other sign of it. */
    for (double begin = seconds(); seconds() - begin < 0.3;) sched_yield();
    double start = seconds();
    CHECK(hsa_queue_destroy(queue));
    double taken = seconds() - start;
    printf("running: ended %s\n", taken < 5 ? "at once" : "late");
    return taken < 5;
}

int main(int count, char **names) {
    if (count != 3) return 2;
    begin(names[1]);
    const struct {
        const char *name;
        int (*run)(void);
    } tests[] = {{"swapped", swapped}, {"producers", producers}, {"barriers", barriers}, {"several", several}, {"pending", pending}, {"running", running}};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; ++i)
        if (!strcmp(names[2], tests[i].name)) {
            int good = tests[i].run();
            finish();
            return !good;
        }
    return 2;
}
