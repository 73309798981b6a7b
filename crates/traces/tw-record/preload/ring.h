/* The memory that the program and the recorder share: one file, mapped by all processes of a recording. No descriptor stays open.
 *
 *   header | slots, one per thread | rings, one per slot
 *
 * A thread writes records into the ring of its slot, whole 8-byte words, and then moves `head` behind them. The recorder
 * reads them, and moves `tail`. The same layout stands in src/ring.rs; VERSION changes with it. */
#ifndef TRACEWISE_RING_H
#define TRACEWISE_RING_H
#include <stdatomic.h>
#include <stdint.h>

#define TW_MAGIC 0x5452414345574953ull
#define TW_VERSION 2
#define TW_SLOTS 1024
#define TW_RING_WORDS 32768 /* 256 KiB */
#define TW_HEADER_BYTES 4096
#define TW_SLOT_BYTES 128
#define TW_RINGS_AT (TW_HEADER_BYTES + TW_SLOTS * TW_SLOT_BYTES)
#define TW_FILE_BYTES ((uint64_t)TW_RINGS_AT + (uint64_t)TW_SLOTS * TW_RING_WORDS * 8)

struct tw_header {
    uint64_t magic;
    uint32_t version;
    uint32_t recorder;            /* its process */
    _Atomic uint32_t closed;      /* nobody reads any more */
    _Atomic uint32_t checking;    /* somebody judges while the program runs */
    _Atomic uint32_t told;        /* how many verdicts were told */
    uint32_t pad0;
    _Atomic uint64_t lost;        /* events that could not be written */
    uint64_t numbers;             /* what the recorder's process number is one of: the inode of its namespace, or 0 */
    char pad1[64 - 48];
    _Atomic uint64_t ticket;      /* the order of all events; a cache line of its own */
    char pad2[56];
};

enum { TW_FREE = 0, TW_CLAIMED = 1, TW_USED = 2, TW_ENDED = 3 };
/* Of a process whose number the recorder does not know; of a thread that has another one, for what interrupts it. */
enum { TW_FOREIGN = 1, TW_NESTED = 2 };

struct tw_slot {
    _Atomic uint32_t state;
    _Atomic uint32_t pid;
    _Atomic uint32_t tid;
    _Atomic uint32_t kind;
    _Atomic uint64_t head; /* words written by the thread */
    char pad1[64 - 24];
    _Atomic uint64_t tail; /* words taken by the recorder */
    char pad2[56];
};

/* A record, in words:
 *   0  words << 32 | flags << 24 | arguments << 16 | call
 *   1  ticket
 *   2  nanoseconds of the monotonic clock
 *   3  result
 *   4  errno | process << 32 (0: that of the slot)
 *   5… arguments; a text or address is its length here, and its bytes stand behind the arguments, padded to words */
enum { TW_HAS_RESULT = 1, TW_HAS_ERRNO = 2 };
/* Not a call: the ticket of a record that nobody will write. */
#define TW_VOID 0xffff
#define TW_TEXT 255
#endif
