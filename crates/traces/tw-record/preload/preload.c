/* The library that a recorded program has loaded before all others: its functions stand in front of libc's, call them, and write down what
 * was asked and what came back. The table calls.txt says which; wrappers.h is made from it, and what needs more care stands below.
 *
 * What it may never do is disturb the program. Hence: no allocation and no lock of its own; errno as libc left it; no descriptor kept open
 * (records go into shared memory, ring.h); nothing but its thread's own ring is written, so it works in signal handlers; a child process is
 * noticed by a page that the kernel wipes on fork; the environment hides it, and a program that is executed gets it back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include "ring.h"

#define PUBLIC __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ALIVE 0x1157ull

extern char **environ;
/* System calls that need no wrapper of ours; libc's `syscall` sets errno, which callers put back. */
extern long syscall(long, ...);
extern int on_exit(void (*)(int, void *), void *);
extern int at_quick_exit(void (*)(void));

typedef long (*function)(long, long, long, long, long, long);

enum { UNKNOWN = 0, STARTING, ON, OFF };
static _Atomic int state;
static struct tw_header *header;
static struct tw_slot *slots;
static uint64_t *rings;
/* Zero in a process that has not seen to itself: the kernel wipes the page when a process forks. */
static _Atomic uint64_t *alive;
static _Atomic uint32_t process, generation, foreign;
static _Atomic uint32_t hint;
static pthread_key_t ending;
static _Atomic int has_key;
/* What a program that is executed needs to be recorded, too: `LD_PRELOAD=…` and `TRACEWISE_RECORD=…`. */
static char library_path[512], library_variable[544], ring_variable[512];

/* Where a thread writes. It has more than one place because a signal handler may come while a record is written: what the handler calls is
 * written at the next place, into a ring of its own. So no record is ever half written and passed by another one, and a handler that leaves
 * by longjmp leaves nothing behind: what was not told to be complete is written over. */
/* What libc frees of a thread that has ended is its own affair; that the last one ends the process is not. */
enum { SILENT = 1, LAST_WORD = 2 };
enum { LEVELS = 4 };
struct place {
    struct tw_slot *slot;
    uint64_t *ring;
    uintptr_t frame; /* of the call that writes here, or wrote last */
    uint64_t ticket; /* of the record that is being written, or NOW */
};

struct me {
    struct place at[LEVELS];
    uint32_t depth; /* places at which a record is being written */
    uint32_t generation;
    uint32_t vforked; /* this may be a child that runs in its parent's memory */
    uint32_t rounds;  /* destructions of thread data that are still to come */
    uint32_t over;    /* it has said that it ends */
    uint32_t denied;  /* there was no slot for it */
};
static __thread struct me me __attribute__((tls_model("initial-exec")));
/* The ticket of a record whose place among all is the moment at which it is written. */
#define NOW UINT64_MAX
/* A handler may interrupt between any two of a thread's steps, but nobody else looks. */
#define STEP() __asm__ volatile("" ::: "memory")

struct argument {
    uint64_t value;
    const void *bytes; /* a text or an address, `value` bytes long */
};

#include "calls.h"

/* -- the real functions ------------------------------------------------------------------------------------------------------------- */

static function find(const char *name) {
#if defined(__x86_64__) && defined(__GLIBC__)
    /* Of some functions there are several; without a version the linker may find the one of 1999. */
    static const char *const newer[][2] = {
        {"pthread_cond_init", "GLIBC_2.3.2"},      {"pthread_cond_destroy", "GLIBC_2.3.2"},
        {"pthread_cond_wait", "GLIBC_2.3.2"},      {"pthread_cond_timedwait", "GLIBC_2.3.2"},
        {"pthread_cond_signal", "GLIBC_2.3.2"},    {"pthread_cond_broadcast", "GLIBC_2.3.2"},
        {"posix_spawn", "GLIBC_2.15"},             {"posix_spawnp", "GLIBC_2.15"},
    };
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (!strcmp(name, newer[i][0])) {
            function found = (function)dlvsym(RTLD_NEXT, name, newer[i][1]);
            if (found) return found;
        }
#endif
    return (function)dlsym(RTLD_NEXT, name);
}

/* Looked up when first needed: which of the program's libraries are initialised before this one is not ours to say. */
#define REAL(name, missing)                                                                                                                \
    static function real_;                                                                                                                 \
    function real = __atomic_load_n(&real_, __ATOMIC_RELAXED);                                                                             \
    if (UNLIKELY(!real)) {                                                                                                                 \
        real = find(name);                                                                                                                 \
        __atomic_store_n(&real_, real, __ATOMIC_RELAXED);                                                                                  \
        if (!real) {                                                                                                                       \
            errno = ENOSYS;                                                                                                                \
            return missing;                                                                                                                \
        }                                                                                                                                  \
    }

/* -- writing ------------------------------------------------------------------------------------------------------------------------ */

static void start(void);
static void write_record(unsigned call, unsigned flags, uint64_t ticket, int64_t result, int error, unsigned count,
                         const struct argument *arguments);

static inline int on(void) {
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (UNLIKELY(now == UNKNOWN)) {
        start();
        now = atomic_load_explicit(&state, memory_order_acquire);
    }
    return LIKELY(now == ON) && !atomic_load_explicit(&header->closed, memory_order_relaxed) && me.over != SILENT;
}

static void begun(void);

static inline uint64_t take_ticket(void) {
    if (UNLIKELY(atomic_load_explicit(alive, memory_order_relaxed) != ALIVE)) begun();
    return atomic_fetch_add_explicit(&header->ticket, 1, memory_order_seq_cst);
}

static inline struct argument number(uint64_t value) {
    return (struct argument){value, NULL};
}

static inline struct argument text(const char *bytes) {
    if (!bytes) return (struct argument){UINT64_MAX, NULL};
    return (struct argument){strnlen(bytes, TW_TEXT), bytes};
}

static inline struct argument address(long bytes, long length) {
    if (!bytes) return (struct argument){UINT64_MAX, NULL};
    return (struct argument){(uint32_t)length > 128 ? 128 : (uint32_t)length, (const void *)bytes};
}

/* What stands where a call had to put its answer; a failed call put none there. */
static inline struct argument referred(long pointer, int failed) {
    return number(failed || !pointer ? 0 : *(uint64_t *)pointer);
}

static void pause_a_little(unsigned round) {
    if (round < 16) {
        syscall(SYS_sched_yield);
        return;
    }
    struct timespec time = {0, round < 64 ? 50000 : 1000000};
    syscall(SYS_nanosleep, &time, NULL);
}

/* Whether the recorder is there. Killed, it can no longer say that it is not; and as long as nobody has waited for it its number is taken. */
static int recorder_lives(void) {
    if (atomic_load_explicit(&header->closed, memory_order_acquire)) return 0;
    /* Its number means nothing where processes are counted anew. */
    if (atomic_load(&foreign)) return 1;
    /* Nobody may read at address 1. Of a process that has ended there is no memory at all, and that is found out first. */
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)1, 1};
    if (syscall(SYS_process_vm_readv, header->recorder, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT) return 1;
    if (errno != ESRCH && (syscall(SYS_kill, header->recorder, 0) == 0 || errno != ESRCH)) return 1;
    atomic_store_explicit(&header->closed, 1, memory_order_release);
    return 0;
}

/* Whether process numbers are those that the recorder knows. */
static int counted_anew(void) {
    struct stat own;
    if (!header->numbers) return 0;
    return syscall(SYS_newfstatat, -100 /* AT_FDCWD */, "/proc/self/ns/pid", &own, 0) != 0 || own.st_ino != header->numbers;
}

/* A child of fork, and a program that begins: the slots that its memory names are not its own. Whether it was this thread that saw to it. */
static int new_process(void) {
    uint64_t nobody = 0;
    int mine = atomic_compare_exchange_strong(alive, &nobody, 1);
    if (mine) {
        atomic_store(&process, (uint32_t)syscall(SYS_getpid));
        atomic_store(&foreign, counted_anew());
        atomic_fetch_add(&generation, 1);
        atomic_store(alive, ALIVE);
    }
    while (atomic_load(alive) != ALIVE) syscall(SYS_sched_yield);
    return mine;
}

static int claim(struct me *self, struct place *place, uint32_t depth) {
    uint32_t pid = atomic_load(&process);
    uint32_t from = atomic_fetch_add(&hint, 1);
    /* More threads at once than there are slots: one may become free. Who waited in vain once does not wait again. */
    for (unsigned round = 0; round < (self->denied ? 1 : 200); round++) {
        for (uint32_t i = 0; i < TW_SLOTS; i++) {
            struct tw_slot *slot = &slots[(from + pid + i) % TW_SLOTS];
            uint32_t is = TW_FREE;
            if (atomic_load_explicit(&slot->state, memory_order_relaxed) != TW_FREE) continue;
            if (!atomic_compare_exchange_strong(&slot->state, &is, TW_CLAIMED)) continue;
            uint64_t *ring = rings + (size_t)(slot - slots) * TW_RING_WORDS;
            atomic_store(&slot->pid, pid);
            atomic_store(&slot->tid, (uint32_t)syscall(SYS_gettid));
            atomic_store(&slot->kind, (atomic_load(&foreign) ? TW_FOREIGN : 0) | (depth || self->over ? TW_NESTED : 0));
            /* A full file system would otherwise answer the first write with SIGBUS. */
            if (syscall(SYS_madvise, ring, (size_t)TW_RING_WORDS * 8, 23 /* MADV_POPULATE_WRITE */) != 0 && errno != EINVAL &&
                errno != ENOSYS) {
                atomic_store(&slot->state, TW_FREE);
                self->denied = 1;
                return 0;
            }
            atomic_store_explicit(&slot->state, TW_USED, memory_order_release);
            place->slot = slot;
            place->ring = ring;
            return 1;
        }
        if (self->denied || !recorder_lives()) break;
        pause_a_little(round + 16);
    }
    self->denied = 1;
    return 0;
}

static void enter_thread(struct me *self) {
    if (atomic_load(&has_key) && !self->rounds) {
        self->rounds = 1;
        pthread_setspecific(ending, self);
    }
    if (!self->over && (uint32_t)syscall(SYS_gettid) != atomic_load(&process)) write_record(CALL_thread_start, 0, NOW, 0, 0, 0, NULL);
}

/* Records are being written below this call, or were when a handler left by longjmp. A call that is not deeper in the stack than another one
 * cannot have interrupted it. How deep there is something to be gone on with; what was left gives its ticket back. */
static __attribute__((noinline)) uint32_t interrupted(struct me *self, uintptr_t here) {
    stack_t other = {0};
    int known = syscall(SYS_sigaltstack, NULL, &other) == 0;
    uintptr_t low = (uintptr_t)other.ss_sp;
    uint32_t depth = self->depth;
    uint64_t given[LEVELS];
    unsigned given_back = 0;
    while (depth > 0) {
        struct place *below = &self->at[depth - 1];
        int there = known && !(other.ss_flags & SS_DISABLE) && below->frame - low < other.ss_size;
        int now = known && (other.ss_flags & SS_ONSTACK) != 0;
        /* From the handlers' own stack nothing of the other can be seen; back on that, the handlers are gone. */
        int left = now == there ? here >= below->frame && here - below->frame < ((uintptr_t)1 << 26) : there;
        /* Four handlers within one another, each in the few steps of a record, do not happen. */
        if (!left && depth < LEVELS) break;
        if (below->ticket != NOW) given[given_back++] = below->ticket;
        below->ticket = NOW;
        depth--;
    }
    self->depth = depth;
    STEP();
    while (given_back > 0) write_record(TW_VOID, 0, given[--given_back], 0, 0, 0, NULL);
    return depth;
}

/* A handler that comes before the frame is known may take the place for left, and is done with it when this goes on. */
static inline void occupy(struct me *self, uint32_t depth, uintptr_t here, uint64_t ticket) {
    volatile uint32_t *now = &self->depth;
    do {
        *now = depth + 1;
        STEP();
        self->at[depth].frame = here;
        STEP();
    } while (UNLIKELY(*now != depth + 1));
    self->at[depth].ticket = ticket;
    STEP();
}

/* That it is there is the first that is told of a child, before what handlers of fork do in it. */
static void begun(void) {
    if (atomic_load_explicit(alive, memory_order_relaxed) != ALIVE && new_process())
        write_record(CALL_fork, TW_HAS_RESULT, NOW, 0, 0, 0, NULL);
}

/* Whose a call of a vfork child is: descriptors and processes are its own, memory is its parent's, where what it allocates stays when it is
 * gone. */
static uint64_t process_of(unsigned call) {
    return call < sizeof in_memory && in_memory[call] ? 0 : (uint64_t)syscall(SYS_getpid);
}

static __attribute__((noinline)) void write_record(unsigned call, unsigned flags, uint64_t ticket, int64_t result, int error, unsigned count,
                                                   const struct argument *arguments) {
    struct me *self = &me;
    if (UNLIKELY(atomic_load_explicit(alive, memory_order_relaxed) != ALIVE)) begun();
    if (UNLIKELY(self->generation != atomic_load_explicit(&generation, memory_order_relaxed))) {
        memset(self->at, 0, sizeof self->at);
        self->depth = self->denied = self->over = 0;
        self->generation = atomic_load(&generation);
    }
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uint32_t depth = self->depth;
    if (UNLIKELY(depth)) depth = interrupted(self, here);
    struct place *place = &self->at[depth];
    occupy(self, depth, here, ticket);
    if (UNLIKELY(!place->slot)) {
        int found = claim(self, place, depth);
        if (found && depth == 0) {
            self->depth = depth;
            STEP();
            enter_thread(self);
            occupy(self, depth, here, ticket);
        }
        if (!found) {
            atomic_fetch_add(&header->lost, 1);
            goto done;
        }
    }
    uint64_t words = 5 + count;
    for (unsigned i = 0; i < count; i++)
        if (arguments[i].bytes) words += (arguments[i].value + 7) / 8;
    struct tw_slot *slot = place->slot;
    uint64_t at;
again:
    for (unsigned round = 0;; round++) {
        at = atomic_load_explicit(&slot->head, memory_order_relaxed);
        if (LIKELY(at - atomic_load_explicit(&slot->tail, memory_order_acquire) + words <= TW_RING_WORDS)) break;
        /* The recorder reads as fast as it can, or as whoever judges. */
        if (((round & 63) == 63 && !recorder_lives()) || atomic_load_explicit(&header->closed, memory_order_relaxed)) goto done;
        if (round > 20000 && atomic_load(&foreign)) {
            atomic_store(&state, OFF);
            goto done;
        }
        pause_a_little(round);
    }
    if (ticket == NOW) place->ticket = ticket = take_ticket();
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t pid = UNLIKELY(self->vforked) ? process_of(call) : 0;
    uint64_t *ring = place->ring;
#define WORD(i) ring[(at + (i)) % TW_RING_WORDS]
    WORD(0) = words << 32 | (uint64_t)flags << 24 | (uint64_t)count << 16 | call;
    WORD(1) = ticket;
    WORD(2) = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    WORD(3) = (uint64_t)result;
    WORD(4) = (uint32_t)error | pid << 32;
    uint64_t next = 5 + count;
    for (unsigned i = 0; i < count; i++) {
        WORD(5 + i) = arguments[i].value;
        const char *bytes = arguments[i].bytes;
        for (uint64_t left = bytes ? arguments[i].value : 0; left > 0;) {
            uint64_t word = 0, some = left < 8 ? left : 8;
            memcpy(&word, bytes, some);
            WORD(next++) = word;
            bytes += some;
            left -= some;
        }
    }
#undef WORD
    /* From here on it is there. It fails only where this stack was taken for left and was not. */
    if (UNLIKELY(!atomic_compare_exchange_strong_explicit(&slot->head, &at, at + words, memory_order_release, memory_order_relaxed))) goto again;
done:
    place->ticket = NOW;
    STEP();
    self->depth = depth;
}

/* -- beginning and end of processes and threads --------------------------------------------------------------------------------------- */

/* Nothing more comes of this thread. */
static void leave(struct me *self) {
    self->over = SILENT;
    for (unsigned level = 0; level < LEVELS; level++) {
        struct tw_slot *slot = self->at[level].slot;
        self->at[level].slot = NULL;
        if (slot) atomic_store_explicit(&slot->state, TW_ENDED, memory_order_release);
    }
}

/* The last round of destructors: those of other libraries may still call what is recorded. */
static void thread_ends(void *data) {
    struct me *self = data;
    if (self->rounds++ < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(ending, self);
        return;
    }
    if (!on() || self->generation != atomic_load(&generation) || !self->at[0].slot) {
        self->over = SILENT;
        return;
    }
    write_record(CALL_thread_end, 0, NOW, 0, 0, 0, NULL);
    leave(self);
}

static void process_exits(int status, void *nothing) {
    (void)nothing;
    if (me.over) me.over = LAST_WORD;
    if (!on()) return;
    write_record(CALL_exit, 0, NOW, 0, 0, 1, (struct argument[]){number((uint64_t)(int64_t)status)});
    /* When it is gone nobody notices where its number says nothing. */
    if (atomic_load(&foreign)) leave(&me);
}

static void process_exits_quickly(void) {
    process_exits(0, NULL);
}

static int is_variable(const char *entry, const char *name) {
    size_t length = strlen(name);
    return !strncmp(entry, name, length) && entry[length] == '=';
}

static char **variable(char **all, const char *name) {
    for (; all && *all; all++)
        if (is_variable(*all, name)) return all;
    return NULL;
}

static void drop(char **entry) {
    for (; entry && *entry; entry++) entry[0] = entry[1];
}

/* The program sees the environment that it would have without us. */
static void hide(void) {
    drop(variable(environ, "TRACEWISE_RECORD"));
    char **preload = variable(environ, "LD_PRELOAD");
    if (!preload) return;
    char *value = *preload + strlen("LD_PRELOAD=");
    size_t own = strlen(library_path);
    if (!strncmp(value, library_path, own) && (value[own] == 0 || value[own] == ':' || value[own] == ' ')) {
        if (value[own] == 0)
            drop(preload);
        else
            memmove(value, value + own + 1, strlen(value + own + 1) + 1);
    }
}

static void start(void) {
    int unknown = UNKNOWN;
    if (!environ) return; /* so early that libc is not there yet */
    if (!atomic_compare_exchange_strong(&state, &unknown, STARTING)) return;
    int error = errno, next = OFF;
    char **entry = variable(environ, "TRACEWISE_RECORD");
    Dl_info own;
    if (entry && strlen(*entry) < sizeof ring_variable && dladdr((void *)&start, &own) && strlen(own.dli_fname) < sizeof library_path) {
        strcpy(ring_variable, *entry);
        strcpy(library_path, own.dli_fname);
        strcpy(library_variable, "LD_PRELOAD=");
        strcat(library_variable, library_path);
        hide();
        int file = (int)syscall(SYS_openat, -100 /* AT_FDCWD */, strchr(ring_variable, '=') + 1, 02000002 /* O_RDWR | O_CLOEXEC */, 0);
        void *memory = MAP_FAILED, *page = MAP_FAILED;
        if (file >= 0) {
            memory = (void *)syscall(SYS_mmap, NULL, TW_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
            syscall(SYS_close, file);
        }
        if (memory != MAP_FAILED)
            page = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED && syscall(SYS_madvise, page, 4096, 18 /* MADV_WIPEONFORK */) == 0) {
            struct tw_header *shared = memory;
            if (shared->magic == TW_MAGIC && shared->version == TW_VERSION) {
                header = shared;
                slots = (struct tw_slot *)((char *)memory + TW_HEADER_BYTES);
                rings = (uint64_t *)((char *)memory + TW_RINGS_AT);
                alive = page;
                next = ON;
            }
        }
    }
    if (next == ON) {
        new_process();
        uint32_t pid = atomic_load(&process);
        /* What this process was before it executed this program has ended. */
        for (uint32_t i = 0; i < TW_SLOTS; i++) {
            uint32_t used = TW_USED;
            if (atomic_load_explicit(&slots[i].pid, memory_order_relaxed) == pid)
                atomic_compare_exchange_strong(&slots[i].state, &used, TW_ENDED);
        }
    }
    atomic_store_explicit(&state, next, memory_order_release);
    if (on()) {
        char path[TW_TEXT + 1];
        long length = syscall(SYS_readlink, "/proc/self/exe", path, TW_TEXT);
        path[length < 0 ? 0 : length] = 0;
        write_record(CALL_start, 0, NOW, 0, 0, 2,
                     (struct argument[]){text(path), number((uint64_t)syscall(SYS_getppid))});
    }
    errno = error;
}

/* Where `exit` can be heard of: not before libc has been initialised, which it is when constructors run. */
__attribute__((constructor)) static void constructed(void) {
    if (!on()) return;
    on_exit(process_exits, NULL);
    at_quick_exit(process_exits_quickly);
    if (pthread_key_create(&ending, thread_ends) != 0) return;
    atomic_store(&has_key, 1);
    me.rounds = 1;
    pthread_setspecific(ending, &me);
}

/* -- memory: everything here may be called while nothing is ready ---------------------------------------------------------------------- */

static function real_malloc, real_calloc, real_realloc, real_free;
static _Atomic int resolving;
/* What `dlsym` itself allocates while it looks for `malloc`. */
static char arena[16384] __attribute__((aligned(16)));
static _Atomic size_t arena_used;

static int in_arena(const void *pointer) {
    return (const char *)pointer >= arena && (const char *)pointer < arena + sizeof arena;
}

static void *from_arena(size_t size) {
    size_t at = atomic_fetch_add(&arena_used, ((size + 15) & ~(size_t)15) + 16);
    if (size > sizeof arena || at + size + 32 > sizeof arena) return NULL;
    *(size_t *)(arena + at) = size;
    return arena + at + 16;
}

static int resolve_memory(void) {
    if (LIKELY(real_free != NULL)) return 1;
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&resolving, &nobody, 1)) return 0;
    real_malloc = find("malloc");
    real_calloc = find("calloc");
    real_realloc = find("realloc");
    real_free = find("free");
    atomic_store(&resolving, 0);
    return real_free != NULL;
}

/* Addresses freed last, by a hash: whoever frees one again is about to be stopped by libc, and what is known is told before. A hint only. */
#define FREED 4096
#define CLOSED 1 /* by fclose or closedir, which free it, too */
static _Atomic uintptr_t freed[FREED];

static inline _Atomic uintptr_t *freed_at(const void *pointer) {
    return &freed[((uintptr_t)pointer >> 4) * 0x9E3779B97F4A7C15ull >> 52];
}

static inline void allocated(const void *pointer) {
    _Atomic uintptr_t *place = freed_at(pointer);
    if ((atomic_load_explicit(place, memory_order_relaxed) & ~(uintptr_t)CLOSED) == (uintptr_t)pointer)
        atomic_store_explicit(place, 0, memory_order_relaxed);
}

/* Waits, a little while, until somebody who judges has told what they think of what was just written. */
static void let_it_be_told(void) {
    if (!atomic_load(&header->checking)) return;
    uint32_t told = atomic_load(&header->told);
    for (unsigned i = 0; i < 300 && atomic_load(&header->told) == told && recorder_lives(); i++) {
        struct timespec time = {0, 1000000};
        syscall(SYS_nanosleep, &time, NULL);
    }
}

static inline int gives_up(const void *pointer) {
    _Atomic uintptr_t *place = freed_at(pointer);
    if (UNLIKELY(atomic_load_explicit(place, memory_order_relaxed) == (uintptr_t)pointer)) return 1;
    atomic_store_explicit(place, (uintptr_t)pointer, memory_order_relaxed);
    return 0;
}

static void *made(unsigned call, void *pointer, unsigned count, const struct argument *arguments) {
    int error = errno;
    if (pointer) allocated(pointer);
    if (on())
        write_record(call, TW_HAS_RESULT | (pointer ? 0 : TW_HAS_ERRNO), NOW, (int64_t)(intptr_t)pointer, pointer ? 0 : error, count,
                     arguments);
    errno = error;
    return pointer;
}

PUBLIC void *malloc(size_t size) {
    if (UNLIKELY(!resolve_memory())) return from_arena(size);
    return made(CALL_malloc, (void *)real_malloc((long)size, 0, 0, 0, 0, 0), 1, (struct argument[]){number(size)});
}

PUBLIC void *calloc(size_t count, size_t size) {
    if (UNLIKELY(!resolve_memory())) return from_arena(count * size); /* the arena is zero */
    return made(CALL_calloc, (void *)real_calloc((long)count, (long)size, 0, 0, 0, 0), 2, (struct argument[]){number(count), number(size)});
}

PUBLIC void free(void *pointer) {
    if (in_arena(pointer) || UNLIKELY(!resolve_memory())) return;
    if (pointer && on()) {
        int error = errno, again = gives_up(pointer);
        write_record(CALL_free, 0, NOW, 0, 0, 1, (struct argument[]){number((uintptr_t)pointer)});
        if (UNLIKELY(again)) let_it_be_told();
        errno = error;
    }
    real_free((long)pointer, 0, 0, 0, 0, 0);
}

/* Two events: the old block is given up before the call, the new one is there after it. Between the two another thread may get the old one. */
PUBLIC void *realloc(void *pointer, size_t size) {
    if (UNLIKELY(!resolve_memory())) return from_arena(size);
    if (in_arena(pointer)) {
        size_t old = *(size_t *)((char *)pointer - 16);
        void *moved = malloc(size);
        if (moved) memcpy(moved, pointer, old < size ? old : size);
        return moved;
    }
    if (on()) {
        int error = errno, again = pointer && gives_up(pointer);
        write_record(CALL_realloc, 0, NOW, 0, 0, 2, (struct argument[]){number((uintptr_t)pointer), number(size)});
        if (UNLIKELY(again)) let_it_be_told();
        errno = error;
    }
    void *moved = (void *)real_realloc((long)pointer, (long)size, 0, 0, 0, 0);
    /* A failed call left the old block where it was. */
    if (!moved && size && pointer) allocated(pointer);
    return made(CALL_reallocated, moved, 2, (struct argument[]){number((uintptr_t)pointer), number(size)});
}

PUBLIC void *reallocarray(void *pointer, size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(pointer, all);
}

PUBLIC int posix_memalign(void **to, size_t alignment, size_t size) {
    REAL("posix_memalign", ENOMEM)
    int result = (int)real((long)to, (long)alignment, (long)size, 0, 0, 0), error = errno;
    if (!result) allocated(*to);
    if (on())
        write_record(CALL_posix_memalign, TW_HAS_RESULT | (result ? TW_HAS_ERRNO : 0), NOW, result, result, 3,
                     (struct argument[]){referred((long)to, result), number(alignment), number(size)});
    errno = error;
    return result;
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size) {
    REAL("aligned_alloc", NULL)
    return made(CALL_aligned_alloc, (void *)real((long)alignment, (long)size, 0, 0, 0, 0), 2,
                (struct argument[]){number(alignment), number(size)});
}

PUBLIC void *memalign(size_t alignment, size_t size) {
    REAL("memalign", NULL)
    return made(CALL_memalign, (void *)real((long)alignment, (long)size, 0, 0, 0, 0), 2,
                (struct argument[]){number(alignment), number(size)});
}

/* Forms of memalign with the size of a page. */
PUBLIC void *valloc(size_t size) {
    REAL("valloc", NULL)
    return made(CALL_memalign, (void *)real((long)size, 0, 0, 0, 0, 0), 2, (struct argument[]){number(4096), number(size)});
}
PUBLIC void *pvalloc(size_t size) {
    REAL("pvalloc", NULL)
    return made(CALL_memalign, (void *)real((long)size, 0, 0, 0, 0, 0), 2, (struct argument[]){number(4096), number(size)});
}

/* -- descriptors and streams with arguments that come or not ---------------------------------------------------------------------------- */

static int finish_open(unsigned call, int result, unsigned count, const struct argument *arguments) {
    int error = errno;
    if (on())
        write_record(call, TW_HAS_RESULT | (result < 0 ? TW_HAS_ERRNO : 0), NOW, result, result < 0 ? error : 0, count, arguments);
    errno = error;
    return result;
}

static int open_any(function real, const char *path, int flags, long mode) {
    int result = (int)real((long)path, flags, mode, 0, 0, 0);
    int unreadable = result < 0 && errno == EFAULT;
    return finish_open(CALL_open, result, 3, (struct argument[]){text(unreadable ? NULL : path), number((uint64_t)flags), number((uint64_t)mode)});
}

static int openat_any(function real, int folder, const char *path, int flags, long mode) {
    int result = (int)real(folder, (long)path, flags, mode, 0, 0);
    int unreadable = result < 0 && errno == EFAULT;
    return finish_open(CALL_openat, result, 4,
                       (struct argument[]){number((uint64_t)(int64_t)folder), text(unreadable ? NULL : path), number((uint64_t)flags),
                                           number((uint64_t)mode)});
}

/* O_CREAT, and the bit of O_TMPFILE: without them there is no mode. */
#define MODE(last)                                                                                                                         \
    long mode = 0;                                                                                                                         \
    if (flags & (0100 | 020000000)) {                                                                                                      \
        va_list rest;                                                                                                                      \
        va_start(rest, last);                                                                                                              \
        mode = va_arg(rest, unsigned);                                                                                                     \
        va_end(rest);                                                                                                                      \
    }

#define OPEN(name)                                                                                                                         \
    PUBLIC int name(const char *path, int flags, ...) {                                                                                    \
        MODE(flags)                                                                                                                        \
        REAL(#name, -1)                                                                                                                    \
        return open_any(real, path, flags, mode);                                                                                          \
    }
#define OPENAT(name)                                                                                                                       \
    PUBLIC int name(int folder, const char *path, int flags, ...) {                                                                        \
        MODE(flags)                                                                                                                        \
        REAL(#name, -1)                                                                                                                    \
        return openat_any(real, folder, path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* Fortified builds call these where they know that there is no mode. */
PUBLIC int __open_2(const char *path, int flags) {
    REAL("__open_2", -1)
    return open_any(real, path, flags, 0);
}
PUBLIC int __open64_2(const char *path, int flags) {
    REAL("__open64_2", -1)
    return open_any(real, path, flags, 0);
}
PUBLIC int __openat_2(int folder, const char *path, int flags) {
    REAL("__openat_2", -1)
    return openat_any(real, folder, path, flags, 0);
}
PUBLIC int __openat64_2(int folder, const char *path, int flags) {
    REAL("__openat64_2", -1)
    return openat_any(real, folder, path, flags, 0);
}

/* Of the rest one argument at most is looked at, whatever the command. */
#define FCNTL(name)                                                                                                                        \
    PUBLIC int name(int file, int command, ...) {                                                                                          \
        va_list rest;                                                                                                                      \
        va_start(rest, command);                                                                                                           \
        long more = va_arg(rest, long);                                                                                                    \
        va_end(rest);                                                                                                                      \
        REAL(#name, -1)                                                                                                                    \
        int result = (int)real(file, command, more, 0, 0, 0);                                                                              \
        return finish_open(CALL_fcntl, result, 3,                                                                                          \
                           (struct argument[]){number((uint64_t)(int64_t)file), number((uint64_t)command), number((uint64_t)more)});       \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

static struct argument one_of(const int *pair, int failed, int index) {
    return number((uint64_t)(int64_t)(failed ? -1 : pair[index]));
}

PUBLIC int pipe(int *pair) {
    REAL("pipe", -1)
    int result = (int)real((long)pair, 0, 0, 0, 0, 0);
    return finish_open(CALL_pipe, result, 2, (struct argument[]){one_of(pair, result < 0, 0), one_of(pair, result < 0, 1)});
}

PUBLIC int pipe2(int *pair, int flags) {
    REAL("pipe2", -1)
    int result = (int)real((long)pair, flags, 0, 0, 0, 0);
    return finish_open(CALL_pipe2, result, 3,
                       (struct argument[]){one_of(pair, result < 0, 0), one_of(pair, result < 0, 1), number((uint64_t)flags)});
}

PUBLIC int socketpair(int domain, int kind, int protocol, int *pair) {
    REAL("socketpair", -1)
    int result = (int)real(domain, kind, protocol, (long)pair, 0, 0);
    return finish_open(CALL_socketpair, result, 5,
                       (struct argument[]){number((uint64_t)domain), number((uint64_t)kind), number((uint64_t)protocol),
                                           one_of(pair, result < 0, 0), one_of(pair, result < 0, 1)});
}

/* A stream or directory closed twice is stopped by libc, as a block freed twice is: it is told before. The result is told where the call comes
 * back. */
static int closes(unsigned call, function real, void *closed) {
    if (!on()) return (int)real((long)closed, 0, 0, 0, 0, 0);
    int error = errno;
    uint64_t ticket = take_ticket();
    _Atomic uintptr_t *place = freed_at(closed);
    int again = closed && (atomic_load_explicit(place, memory_order_relaxed) & ~(uintptr_t)CLOSED) == (uintptr_t)closed;
    atomic_store_explicit(place, (uintptr_t)closed | CLOSED, memory_order_relaxed);
    if (UNLIKELY(again)) {
        write_record(call, 0, ticket, 0, 0, 1, (struct argument[]){number((uintptr_t)closed)});
        let_it_be_told();
        errno = error;
        return (int)real((long)closed, 0, 0, 0, 0, 0);
    }
    errno = error;
    int result = (int)real((long)closed, 0, 0, 0, 0, 0);
    error = errno;
    write_record(call, TW_HAS_RESULT | (result ? TW_HAS_ERRNO : 0), ticket, result, result ? error : 0, 1,
                 (struct argument[]){number((uintptr_t)closed)});
    errno = error;
    return result;
}
PUBLIC int fclose(void *stream) {
    REAL("fclose", -1)
    return closes(CALL_fclose, real, stream);
}
PUBLIC int closedir(void *directory) {
    REAL("closedir", -1)
    return closes(CALL_closedir, real, directory);
}

static void *reopen(function real, const char *path, const char *mode, void *stream) {
    uint64_t ticket = on() ? take_ticket() : 0;
    void *result = (void *)real((long)path, (long)mode, (long)stream, 0, 0, 0);
    int error = errno;
    if (on())
        write_record(CALL_freopen, TW_HAS_RESULT | (result ? 0 : TW_HAS_ERRNO), ticket, (int64_t)(intptr_t)result, result ? 0 : error, 3,
                     (struct argument[]){text(path), text(mode), number((uintptr_t)stream)});
    errno = error;
    return result;
}
PUBLIC void *freopen(const char *path, const char *mode, void *stream) {
    REAL("freopen", NULL)
    return reopen(real, path, mode, stream);
}
PUBLIC void *freopen64(const char *path, const char *mode, void *stream) {
    REAL("freopen64", NULL)
    return reopen(real, path, mode, stream);
}

/* A structure that is passed by value. */
struct cookie {
    void *functions[4];
};
PUBLIC void *fopencookie(void *cookie, const char *mode, struct cookie functions) {
    static void *(*real)(void *, const char *, struct cookie);
    if (UNLIKELY(!real)) real = (void *)find("fopencookie");
    void *result = real(cookie, mode, functions);
    int error = errno;
    if (on())
        write_record(CALL_fopencookie, TW_HAS_RESULT | (result ? 0 : TW_HAS_ERRNO), NOW, (int64_t)(intptr_t)result, result ? 0 : error, 1,
                     (struct argument[]){text(mode)});
    errno = error;
    return result;
}

/* `va_list` is passed as a pointer where it is an array, and as a copy in memory elsewhere: as itself, whatever it is. */
typedef int (*printer)(void *, const char *, va_list);
typedef int (*checked_printer)(void *, int, const char *, va_list);

static int printed(unsigned call, void *stream, const char *format, int result, int error) {
    if (on())
        write_record(call, TW_HAS_RESULT | (result < 0 ? TW_HAS_ERRNO : 0), NOW, result, result < 0 ? error : 0, 2,
                     (struct argument[]){number((uintptr_t)stream), text(format)});
    errno = error;
    return result;
}

PUBLIC int vfprintf(void *stream, const char *format, va_list rest) {
    REAL("vfprintf", -1)
    int result = ((printer)(void *)real)(stream, format, rest);
    return printed(CALL_vfprintf, stream, format, result, errno);
}
PUBLIC int __vfprintf_chk(void *stream, int flag, const char *format, va_list rest) {
    REAL("__vfprintf_chk", -1)
    int result = ((checked_printer)(void *)real)(stream, flag, format, rest);
    return printed(CALL_vfprintf, stream, format, result, errno);
}
PUBLIC int fprintf(void *stream, const char *format, ...) {
    REAL("vfprintf", -1)
    va_list rest;
    va_start(rest, format);
    int result = ((printer)(void *)real)(stream, format, rest);
    va_end(rest);
    return printed(CALL_fprintf, stream, format, result, errno);
}
PUBLIC int __fprintf_chk(void *stream, int flag, const char *format, ...) {
    REAL("__vfprintf_chk", -1)
    va_list rest;
    va_start(rest, format);
    int result = ((checked_printer)(void *)real)(stream, flag, format, rest);
    va_end(rest);
    return printed(CALL_fprintf, stream, format, result, errno);
}

/* What it allocates is the caller's, so that is no affair of libc's own. */
static long got_line(long result, void *stream) {
    int error = errno;
    if (on())
        write_record(CALL_getline, TW_HAS_RESULT, NOW, result, 0, 1, (struct argument[]){number((uintptr_t)stream)});
    errno = error;
    return result;
}
PUBLIC long getline(char **to, size_t *size, void *stream) {
    REAL("getline", -1)
    return got_line(real((long)to, (long)size, (long)stream, 0, 0, 0), stream);
}
PUBLIC long getdelim(char **to, size_t *size, int delimiter, void *stream) {
    REAL("getdelim", -1)
    return got_line(real((long)to, (long)size, delimiter, (long)stream, 0, 0), stream);
}
PUBLIC long __getdelim(char **to, size_t *size, int delimiter, void *stream) {
    REAL("__getdelim", -1)
    return got_line(real((long)to, (long)size, delimiter, (long)stream, 0, 0), stream);
}

/* Fortified builds pass the size of the buffer, too. */
#define CHECKED_LONG(name, call, parameters, passed, recorded, count)                                                                      \
    PUBLIC long name parameters {                                                                                                          \
        REAL(#name, -1)                                                                                                                    \
        long result = real passed;                                                                                                         \
        int error = errno;                                                                                                                 \
        if (on())                                                                                                                          \
            write_record(call, TW_HAS_RESULT | (result == -1 ? TW_HAS_ERRNO : 0), NOW, result, result == -1 ? error : 0, count,  \
                         (struct argument[])recorded);                                                                                     \
        errno = error;                                                                                                                     \
        return result;                                                                                                                     \
    }
#define LIST(...) {__VA_ARGS__}
#define INT(x) number((uint64_t)(int64_t)(int)(x))
#define NUM(x) number((uint64_t)(x))
CHECKED_LONG(__read_chk, CALL_read, (long a, long b, long c, long d), (a, b, c, d, 0, 0), LIST(INT(a), NUM(b), NUM(c)), 3)
CHECKED_LONG(__pread_chk, CALL_pread, (long a, long b, long c, long d, long e), (a, b, c, d, e, 0), LIST(INT(a), NUM(b), NUM(c), NUM(d)), 4)
CHECKED_LONG(__pread64_chk, CALL_pread, (long a, long b, long c, long d, long e), (a, b, c, d, e, 0), LIST(INT(a), NUM(b), NUM(c), NUM(d)), 4)
CHECKED_LONG(__recv_chk, CALL_recv, (long a, long b, long c, long d, long e), (a, b, c, d, e, 0), LIST(INT(a), NUM(b), NUM(c), INT(e)), 4)
/* The only call with seven arguments. */
PUBLIC long __recvfrom_chk(int file, void *to, size_t size, size_t room, int how, void *from, void *length) {
    static long (*real)(int, void *, size_t, size_t, int, void *, void *);
    if (UNLIKELY(!real)) real = (void *)find("__recvfrom_chk");
    long result = real(file, to, size, room, how, from, length);
    int error = errno;
    if (on())
        write_record(CALL_recvfrom, TW_HAS_RESULT | (result == -1 ? TW_HAS_ERRNO : 0), NOW, result, result == -1 ? error : 0, 4,
                     (struct argument[]){INT(file), number((uintptr_t)to), number(size), INT(how)});
    errno = error;
    return result;
}

PUBLIC void *__fgets_chk(void *to, size_t room, int size, void *stream) {
    REAL("__fgets_chk", NULL)
    void *result = (void *)real((long)to, (long)room, size, (long)stream, 0, 0);
    int error = errno;
    if (on())
        write_record(CALL_fgets, TW_HAS_RESULT, NOW, (int64_t)(intptr_t)result, 0, 2,
                     (struct argument[]){INT(size), number((uintptr_t)stream)});
    errno = error;
    return result;
}
PUBLIC size_t __fread_chk(void *to, size_t room, size_t size, size_t count, void *stream) {
    REAL("__fread_chk", 0)
    long result = real((long)to, (long)room, (long)size, (long)count, (long)stream, 0);
    int error = errno;
    if (on())
        write_record(CALL_fread, TW_HAS_RESULT, NOW, result, 0, 4,
                     (struct argument[]){number((uintptr_t)to), number(size), number(count), number((uintptr_t)stream)});
    errno = error;
    return (size_t)result;
}

/* -- threads ---------------------------------------------------------------------------------------------------------------------------- */

/* A thread that makes no call of its own still frees what libc had for it when it is over, too late for a destructor to be called: so it is
 * told to have one when it begins. How it gets there without memory of its own: through a few places; where all are taken it goes without. */
static struct beginning {
    _Atomic int taken;
    void *(*run)(void *);
    void *data;
} beginnings[256];

static void *begin_thread(void *place) {
    struct beginning *beginning = place;
    void *(*run)(void *) = beginning->run, *data = beginning->data;
    atomic_store_explicit(&beginning->taken, 0, memory_order_release);
    if (atomic_load(&has_key) && !me.rounds) {
        me.rounds = 1;
        pthread_setspecific(ending, &me);
    }
    return run(data);
}

static struct beginning *beginning_of(void *(*run)(void *), void *data) {
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        int free_place = 0;
        if (!atomic_compare_exchange_strong(&beginnings[i].taken, &free_place, 1)) continue;
        beginnings[i].run = run;
        beginnings[i].data = data;
        return &beginnings[i];
    }
    return NULL;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data) {
    REAL("pthread_create", EAGAIN)
    int recording = on();
    uint64_t ticket = recording ? take_ticket() : 0;
    struct beginning *beginning = recording ? beginning_of(run, data) : NULL;
    int result = beginning ? (int)real((long)thread, (long)attributes, (long)begin_thread, (long)beginning, 0, 0)
                           : (int)real((long)thread, (long)attributes, (long)run, (long)data, 0, 0);
    int error = errno, detached = PTHREAD_CREATE_JOINABLE;
    if (attributes) pthread_attr_getdetachstate(attributes, &detached);
    if (beginning && result) atomic_store(&beginning->taken, 0);
    if (on())
        write_record(CALL_pthread_create, TW_HAS_RESULT | (result ? TW_HAS_ERRNO : 0), ticket, result, result, 2,
                     (struct argument[]){referred((long)thread, result), number((uint64_t)detached)});
    errno = error;
    return result;
}

/* Waiting gives the lock up, and coming back has it again: two events. A thread that is cancelled while it waits has it, too, for what it does
 * to clean up. */
struct waiting {
    struct argument both[2];
};
static void woken(void *data) {
    struct waiting *waiting = data;
    if (on()) write_record(CALL_pthread_cond_woken, TW_HAS_RESULT, NOW, 0, 0, 2, waiting->both);
}
static int waits(function real, long condition, long lock, long until, long clock) {
    struct waiting waiting = {{number((uint64_t)condition), number((uint64_t)lock)}};
    int error = errno, result;
    if (on()) write_record(CALL_pthread_cond_wait, 0, NOW, 0, 0, 2, waiting.both);
    errno = error;
    pthread_cleanup_push(woken, &waiting);
    result = (int)real(condition, lock, until, clock, 0, 0);
    pthread_cleanup_pop(0);
    error = errno;
    if (on()) write_record(CALL_pthread_cond_woken, TW_HAS_RESULT | (result ? TW_HAS_ERRNO : 0), NOW, result, result, 2, waiting.both);
    errno = error;
    return result;
}
PUBLIC int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock) {
    REAL("pthread_cond_wait", ENOSYS)
    return waits(real, (long)condition, (long)lock, 0, 0);
}
PUBLIC int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
    REAL("pthread_cond_timedwait", ENOSYS)
    return waits(real, (long)condition, (long)lock, (long)until, 0);
}
PUBLIC int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until) {
    REAL("pthread_cond_clockwait", ENOSYS)
    return waits(real, (long)condition, (long)lock, clock, (long)until);
}

/* -- processes -------------------------------------------------------------------------------------------------------------------------- */

static int forks(function real) {
    int was_on = on();
    uint64_t ticket = was_on ? take_ticket() : 0;
    int result = (int)real(0, 0, 0, 0, 0, 0), error = errno;
    if (!was_on) return result;
    if (result == 0)
        begun();
    else
        write_record(CALL_fork, TW_HAS_RESULT | (result < 0 ? TW_HAS_ERRNO : 0), ticket, result, result < 0 ? error : 0, 0, NULL);
    errno = error;
    return result;
}
PUBLIC int fork(void) {
    REAL("fork", -1)
    return forks(real);
}
PUBLIC int _Fork(void) {
    REAL("_Fork", -1)
    return forks(real);
}

/* Within libc these fork unseen, and a parent that ends at once says nothing of its child: so they are made of the calls that they are made of
 * there. What they do beside forking is libc's own affair, and not told. */
PUBLIC int daemon(int keeps_folder, int keeps_streams) {
    int child = fork();
    if (child < 0) return -1;
    if (child > 0) _exit(0);
    if (syscall(SYS_setsid) < 0) return -1;
    if (!keeps_folder) syscall(SYS_chdir, "/");
    if (keeps_streams) return 0;
    int nowhere = (int)syscall(SYS_openat, -100 /* AT_FDCWD */, "/dev/null", 2 /* O_RDWR */, 0);
    if (nowhere < 0) return -1;
    struct stat data;
    if (syscall(SYS_newfstatat, nowhere, "", &data, 0x1000 /* AT_EMPTY_PATH */) != 0 || !S_ISCHR(data.st_mode) ||
        data.st_rdev != makedev(1, 3)) {
        syscall(SYS_close, nowhere);
        errno = ENODEV;
        return -1;
    }
    for (int stream = 0; stream <= 2; stream++)
        if (stream != nowhere) syscall(SYS_dup3, nowhere, stream, 0);
    if (nowhere > 2) syscall(SYS_close, nowhere);
    return 0;
}

PUBLIC int forkpty(int *master, char *name, const void *terminal, const void *size) {
    REAL("openpty", -1)
    static function log_in;
    if (!log_in) log_in = find("login_tty");
    int ours, theirs;
    if (!log_in) {
        errno = ENOSYS;
        return -1;
    }
    if ((int)real((long)&ours, (long)&theirs, (long)name, (long)terminal, (long)size, 0) < 0) return -1;
    int child = fork(), error = errno;
    if (child == 0) {
        syscall(SYS_close, ours);
        if ((int)log_in(theirs, 0, 0, 0, 0, 0) < 0) syscall(SYS_exit_group, 1);
        return 0;
    }
    syscall(SYS_close, theirs);
    if (child < 0)
        syscall(SYS_close, ours);
    else
        *master = ours;
    errno = error;
    return child;
}

#if defined(__x86_64__)
/* A child of vfork runs in its parent's memory and returns through the same frame, so no frame of ours may be there: the return address is
 * kept in a register over the system call, as libc does it. Of the child's events those bear its own process number that are not about
 * memory; its parent waits. */
__attribute__((used)) static void before_vfork(void) {
    me.vforked++;
}
__attribute__((used)) static void after_vfork(long result) {
    if (result != 0) me.vforked--;
    if (on()) write_record(CALL_vfork, TW_HAS_RESULT | (result < 0 ? TW_HAS_ERRNO : 0), NOW, result < 0 ? -1 : result, result < 0 ? (int)-result : 0, 0, NULL);
    if (result < 0) errno = (int)-result;
}
__asm__(".text\n.globl vfork\n.type vfork,@function\nvfork:\n"
        "  sub $8,%rsp\n  call before_vfork\n  add $8,%rsp\n"
        "  pop %rdi\n  mov $58,%eax\n  syscall\n  push %rdi\n"
        "  push %rax\n  mov %rax,%rdi\n  call after_vfork\n  pop %rax\n"
        "  test %rax,%rax\n  jns 1f\n  mov $-1,%rax\n1: ret\n"
        ".size vfork,.-vfork\n");
#else
PUBLIC int vfork(void) {
    return fork();
}
#endif

/* Who ended is told in memory of the caller's. */
PUBLIC int waitid(int kind, unsigned whom, void *told, int how) {
    REAL("waitid", -1)
    int result = (int)real(kind, whom, (long)told, how, 0, 0);
    uint64_t child = result == 0 && told && !(how & 0x01000000 /* WNOWAIT */) ? (uint64_t)(int64_t)((siginfo_t *)told)->si_pid : 0;
    return finish_open(CALL_waitid, result, 2, (struct argument[]){number(child), number((uint64_t)how)});
}

/* The end of the process is told last of all; that it was asked for a second time, at once. A child of vfork is not what its memory says. */
PUBLIC __attribute__((noreturn)) void exit(int status) {
    static function real;
    static _Atomic int exiting;
    if (!real) real = find("exit");
    if (!me.vforked && atomic_exchange(&exiting, 1) && on())
        write_record(CALL_exit_again, 0, NOW, 0, 0, 1, (struct argument[]){number((uint64_t)(int64_t)status)});
    real(status, 0, 0, 0, 0, 0);
    for (;;) syscall(SYS_exit_group, status);
}

PUBLIC __attribute__((noreturn)) void _exit(int status) {
    process_exits(status, NULL);
    for (;;) syscall(SYS_exit_group, status);
}
PUBLIC __attribute__((noreturn)) void _Exit(int status) {
    _exit(status);
}

/* A signal to oneself may be the last thing that one does: it is told before. */
PUBLIC int kill(int whom, int which) {
    REAL("kill", -1)
    struct argument both[] = {number((uint64_t)(int64_t)whom), number((uint64_t)which)};
    int error = errno;
    uint64_t ticket = on() ? take_ticket() : 0;
    int fatal = whom <= 0 || (uint32_t)whom == (uint32_t)syscall(SYS_getpid);
    if (fatal && on()) write_record(CALL_kill, 0, ticket, 0, 0, 2, both);
    errno = error;
    int result = (int)real(whom, which, 0, 0, 0, 0);
    error = errno;
    if (!fatal && on())
        write_record(CALL_kill, TW_HAS_RESULT | (result ? TW_HAS_ERRNO : 0), ticket, result, result ? error : 0, 2, both);
    errno = error;
    return result;
}

PUBLIC __attribute__((noreturn)) void abort(void) {
    static function real;
    if (!real) real = find("abort");
    if (on()) write_record(CALL_abort, 0, NOW, 0, 0, 0, NULL);
    real(0, 0, 0, 0, 0, 0);
    for (;;) syscall(SYS_exit_group, 127);
}

/* The environment of a program that is executed: as given, and what it needs to be recorded. `table` and `preload` are the caller's stack. */
static size_t length_of(char *const *list) {
    size_t length = 0;
    while (list && list[length]) length++;
    return length;
}

/* Whether the dynamic linker will find the library: not so for who has become another user. It would say so on standard error. */
static int reachable(void) {
    int error = errno;
    long result = syscall(SYS_faccessat2, -100 /* AT_FDCWD */, library_path, 4 /* R_OK */, 0x200 /* AT_EACCESS */);
    if (result != 0 && errno == ENOSYS) result = syscall(SYS_faccessat, -100, library_path, 4);
    errno = error;
    return result == 0;
}

static char *const *recorded(char *const *given, char **table, char *preload, size_t room) {
    if (!on() || !reachable()) return given;
    size_t length = 0;
    const char *others = NULL;
    for (char *const *entry = given; entry && *entry; entry++) {
        if (is_variable(*entry, "TRACEWISE_RECORD")) continue;
        if (is_variable(*entry, "LD_PRELOAD"))
            others = *entry + strlen("LD_PRELOAD=");
        else
            table[length++] = *entry;
    }
    if (!others || !*others) {
        preload = library_variable;
    } else {
        int ours = !strncmp(others, library_path, strlen(library_path));
        if (strlen(others) + strlen(library_variable) + 2 > room) return given;
        strcpy(preload, ours ? "LD_PRELOAD=" : library_variable);
        if (!ours) strcat(preload, ":");
        strcat(preload, others);
    }
    table[length++] = preload;
    table[length++] = ring_variable;
    table[length] = NULL;
    return table;
}

#define RECORDED(given)                                                                                                                    \
    char *table[length_of(given) + 3];                                                                                                     \
    char preload[4096];                                                                                                                    \
    char *const *environment = recorded(given, table, preload, sizeof preload)

static int executes(function real, const char *path, char *const *arguments, char *const *given) {
    RECORDED(given);
    if (on()) write_record(CALL_execve, 0, NOW, 0, 0, 1, (struct argument[]){text(path)});
    int result = (int)real((long)path, (long)arguments, (long)environment, 0, 0, 0);
    return finish_open(CALL_exec_failed, result, 1, (struct argument[]){text(errno == EFAULT ? NULL : path)});
}

PUBLIC int execve(const char *path, char *const *arguments, char *const *environment) {
    REAL("execve", -1)
    return executes(real, path, arguments, environment);
}
PUBLIC int execveat(int folder, const char *path, char *const *arguments, char *const *given, int flags) {
    REAL("execveat", -1)
    RECORDED(given);
    if (on()) write_record(CALL_execve, 0, NOW, 0, 0, 1, (struct argument[]){text(path)});
    int result = (int)real(folder, (long)path, (long)arguments, (long)environment, flags, 0);
    return finish_open(CALL_exec_failed, result, 1, (struct argument[]){text(errno == EFAULT ? NULL : path)});
}
PUBLIC int execv(const char *path, char *const *arguments) {
    REAL("execve", -1)
    return executes(real, path, arguments, environ);
}
PUBLIC int execvpe(const char *file, char *const *arguments, char *const *environment) {
    REAL("execvpe", -1)
    return executes(real, file, arguments, environment);
}
PUBLIC int execvp(const char *file, char *const *arguments) {
    REAL("execvpe", -1)
    return executes(real, file, arguments, environ);
}
PUBLIC int fexecve(int file, char *const *arguments, char *const *given) {
    REAL("fexecve", -1)
    RECORDED(given);
    if (on()) write_record(CALL_execve, 0, NOW, 0, 0, 1, (struct argument[]){text("")});
    int result = (int)real(file, (long)arguments, (long)environment, 0, 0, 0);
    return finish_open(CALL_exec_failed, result, 1, (struct argument[]){text("")});
}

/* The forms with a list of arguments: counted, then copied to the stack. */
#define LISTED                                                                                                                             \
    va_list rest;                                                                                                                          \
    size_t count = 1;                                                                                                                      \
    va_start(rest, first);                                                                                                                 \
    while (va_arg(rest, char *)) count++;                                                                                                  \
    va_end(rest);                                                                                                                          \
    char *arguments[count + 1];                                                                                                            \
    arguments[0] = (char *)first;                                                                                                          \
    va_start(rest, first);                                                                                                                 \
    for (size_t i = 1; i <= count; i++) arguments[i] = va_arg(rest, char *);

PUBLIC int execl(const char *path, const char *first, ...) {
    LISTED
    va_end(rest);
    return execv(path, arguments);
}
PUBLIC int execlp(const char *file, const char *first, ...) {
    LISTED
    va_end(rest);
    return execvp(file, arguments);
}
PUBLIC int execle(const char *path, const char *first, ...) {
    LISTED
    char *const *environment = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, arguments, environment);
}

static int spawns(function real, int *child, const char *path, const void *actions, const void *attributes, char *const *arguments,
                  char *const *given) {
    RECORDED(given);
    uint64_t ticket = on() ? take_ticket() : 0;
    int number_of_child = 0, result = (int)real((long)&number_of_child, (long)path, (long)actions, (long)attributes, (long)arguments, (long)environment);
    if (child && !result) *child = number_of_child;
    int error = errno;
    if (on())
        write_record(CALL_posix_spawn, TW_HAS_RESULT | (result ? TW_HAS_ERRNO : 0), ticket, result, result, 2,
                     (struct argument[]){text(path), number((uint64_t)number_of_child)});
    errno = error;
    return result;
}
PUBLIC int posix_spawn(int *child, const char *path, const void *actions, const void *attributes, char *const *arguments, char *const *given) {
    REAL("posix_spawn", ENOSYS)
    return spawns(real, child, path, actions, attributes, arguments, given);
}
PUBLIC int posix_spawnp(int *child, const char *file, const void *actions, const void *attributes, char *const *arguments, char *const *given) {
    REAL("posix_spawnp", ENOSYS)
    return spawns(real, child, file, actions, attributes, arguments, given);
}

/* libc starts a shell by itself, with the environment that there is: for as long it has what a child needs. */
static long with_shell(function real, long first, long second) {
    RECORDED(environ);
    char **before = environ;
    environ = (char **)environment;
    long result = real(first, second, 0, 0, 0, 0);
    /* Another thread may have set a variable meanwhile, and with it the list. */
    if (environ == (char **)environment) environ = before;
    return result;
}
PUBLIC int system(const char *command) {
    REAL("system", -1)
    return finish_open(CALL_system, (int)with_shell(real, (long)command, 0), 1, (struct argument[]){text(command)});
}
PUBLIC void *popen(const char *command, const char *mode) {
    REAL("popen", NULL)
    void *result = (void *)with_shell(real, (long)command, (long)mode);
    int error = errno;
    if (on())
        write_record(CALL_popen, TW_HAS_RESULT | (result ? 0 : TW_HAS_ERRNO), NOW, (int64_t)(intptr_t)result, result ? 0 : error, 2,
                     (struct argument[]){text(command), text(mode)});
    errno = error;
    return result;
}

#include "wrappers.h"
