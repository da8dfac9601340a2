/* The hashes against published values: the 64 vectors of the SipHash reference implementation,
 * the sanity vectors of xxHash, and folds over every short length, computed by other programs
 * (python3-xxhash 0.8.1; a SipHash in Python from the paper, itself equal to that of OpenSSL). */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "core/bits.h"
#include "core/cpu.h"
#include "core/hash.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* xxHash's sanity buffer. */
#define PRIME32 UINT64_C(2654435761)
#define PRIME64 UINT64_C(11400714785074694797)

static uint8_t sanity[4096];
static struct tamis_key *counting_key; /* 00 01 ... 0f, the key of the SipHash vectors */

static void prepare(void)
{
    uint64_t g = PRIME32;
    for (size_t i = 0; i < sizeof sanity; i++, g *= PRIME64) sanity[i] = (uint8_t)(g >> 56);
    static const uint8_t bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (counting_key == NULL) counting_key = tamis__key_make(bytes, NULL);
    CHECK(counting_key != NULL);
}

static tamis_hash hash_one(const struct hasher *h, const void *p, size_t n)
{
    const tamis_bytes key = {p, n};
    tamis_hash out = {0, 0};
    tamis__hash_keys(h, &key, 1, &out);
    return out;
}

/* Depends on every bit of every hash and on their order. */
static uint64_t fold(uint64_t digest, tamis_hash h)
{
    return ((digest << 7 | digest >> 57) ^ h.lo) * PRIME64 + h.hi;
}

/* vectors_sip128 of the reference: the message of length i is 00 01 ... i-1. */
static const char *const sip128[64] = {
    "a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
    "8177228da4a45dc7fca38bdef60affe4", "9c70b60c5267a94e5f33b6b02985ed51",
    "f88164c12d9c8faf7d0f6e7c7bcd5579", "1368875980776f8854527a07690e9627",
    "14eeca338b208613485ea0308fd7a15e", "a1f1ebbed8dbc153c0b84aa61ff08239",
    "3b62a9ba6258f5610f83e264f31497b4", "264499060ad9baabc47f8b02bb6d71ed",
    "00110dc378146956c95447d3f3d0fbba", "0151c568386b6677a2b4dc6f81e5dc18",
    "d626b266905ef35882634df68532c125", "9869e247e9c08b10d029934fc4b952f7",
    "31fcefac66d7de9c7ec7485fe4494902", "5493e99933b0a8117e08ec0f97cfc3d9",
    "6ee2a4ca67b054bbfd3315bf85230577", "473d06e8738db89854c066c47ae47740",
    "a426e5e423bf4885294da481feaef723", "78017731cf65fab074d5208952512eb1",
    "9e25fc833f2290733e9344a5e83839eb", "568e495abe525a218a2214cd3e071d12",
    "4a29b54552d16b9a469c10528eff0aae", "c9d184ddd5a9f5e0cf8ce29a9abf691c",
    "2db479ae78bd50d8882a8a178a6132ad", "8ece5f042d5e447b5051b9eacb8d8f6f",
    "9c0b53b4b3c307e87eaee08678141f66", "abf248af69a6eae4bfd3eb2f129eeb94",
    "0664da1668574b88b935f3027358aef4", "aa4b9dc4bf337de90cd4fd3c467c6ab7",
    "ea5c7f471faf6bde2b1ad7d4686d2287", "2939b0183223fafc1723de4f52c43d35",
    "7c3956ca5eeafc3e363e9d556546eb68", "77c6077146f01c32b6b69d5f4ea9ffcf",
    "37a6986cb8847edf0925f0f1309b54de", "a705f0e69da9a8f907241a2e923c8cc8",
    "3dc47d1f29c448461e9e76ed904f6711", "0d62bf01e6fc0e1a0d3c4751c5d3692b",
    "8c03468bca7c669ee4fd5e084bbee7b5", "528a5bb93baf2c9c4473cce5d0d22bd9",
    "df6a301e95c95dad97ae0cc8c6913bd8", "801189902c857f39e73591285e70b6db",
    "e617346ac9c231bb3650ae34ccca0c5b", "27d93437efb721aa401821dcec5adf89",
    "89237d9ded9c5e78d8b1c9b166cc7342", "4a6d8091bf5e7d651189fa94a250b14c",
    "0e33f96055e7ae893ffc0e3dcf492902", "e61c432b720b19d18ec8d84bdc63151b",
    "f7e5aef549f782cf379055a608269b16", "438d030fd0b7a54fa837f2ad201a6403",
    "a590d3ee4fbf04e3247e0d27f286423f", "5fe2c1a172fe93c4b15cd37caef9f538",
    "2c97325cbd06b36eb2133dd08b3a017c", "92c814227a6bca949ff0659f002ad39e",
    "dce850110bd8328cfbd50841d6911d87", "67f14984c7da791248e32bb5922583da",
    "1938f2cf72d54ee97e94166fa91d2a36", "74481e9646ed49fe0f6224301604698e",
    "57fca5de98a9d6d8006438d0583d8a1d", "9fecde1cefdc1cbed4763674d9575359",
    "e3040c00eb28f15366ca73cbd872e740", "7697009a6a831dfecca91c5993670f7a",
    "5853542321f567a005d547a4f04759bd", "5150d1772f50834a503e069a973fbd7c",
};

static void to_hex(tamis_hash h, char *text)
{
    uint8_t b[16];
    tamis__put64(b, h.lo);
    tamis__put64(b + 8, h.hi);
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", b[i]);
}

static void test_siphash_vectors(void)
{
    prepare();
    struct hasher h;
    tamis__hasher_init(&h, 0, counting_key);
    uint8_t message[64];
    for (size_t i = 0; i < 64; i++) message[i] = (uint8_t)i;
    for (size_t i = 0; i < 64; i++) {
        char text[33];
        to_hex(hash_one(&h, message, i), text);
        CHECK(strcmp(text, sip128[i]) == 0);
    }
}

static void test_siphash_all_lengths(void)
{
    prepare();
    struct hasher h;
    tamis__hasher_init(&h, 0, counting_key);
    uint64_t digest = 0;
    for (size_t n = 0; n <= 300; n++) digest = fold(digest, hash_one(&h, sanity, n));
    CHECK(digest == UINT64_C(0xc7d9baaba040c20e));
}

/* xxHash: sanity_test_vectors.h, XXH128, seed 0: one or two lengths of each of its code paths. */
static const struct {
    size_t length;
    uint64_t lo, hi;
} xxh128[] = {
    {0, 0x6001c324468d497f, 0x99aa06d3014798d8},    {1, 0xc44bdff4074eecdb, 0xa6cd5e9392000f6a},
    {2, 0x7a9978044cb8a8bb, 0x76750c3c7bf95668},    {3, 0x54247382a8d6b94d, 0x20efc49ff02422ea},
    {4, 0x2e7d8d6876a39fe9, 0x970d585ac632bf8e},    {8, 0x64c69cab4bb21dc5, 0x47a7f080d82bb456},
    {9, 0xed7ccbc501eb7501, 0x564ef6078950d457},    {16, 0x562980258a998629, 0xc68c368ecf8a9c05},
    {17, 0xabbc12d11973d7db, 0x955fa78643ed3669},   {128, 0xebb15e34a7fb5ab1, 0x39992220e045260a},
    {129, 0x86c9e3bc8f0a3b5c, 0x03815fc91f1b30b6},  {240, 0x5c9aae94c8ebe5a0, 0xaa4202daa2769dc8},
    {241, 0xc5a639ecd2030e5e, 0x99a80ecf0ecfc647},  {256, 0x55de574ad89d0ac5, 0x8b1c66091423d288},
    {257, 0xb17fd5a8ae75bb0b, 0xf15fee7f9f457599},  {512, 0x617e49599013cb6b, 0x18d2d110dcc9bca1},
    {1024, 0xdd85c9b5c1109c5c, 0x0d30d24071c64c57}, {1025, 0xd870c0fa13211c6a, 0xfd3ee4fe7f2954c6},
    {2048, 0xdd59e2c3a5f038e0, 0xf736557fd47073a5}, {4096, 0xe91206429d1f48f9, 0xb9cfaea2ca5626a4},
};

static void test_xxh3_vectors(void)
{
    prepare();
    struct hasher h;
    tamis__hasher_init(&h, 0, NULL);
    for (size_t i = 0; i < sizeof xxh128 / sizeof *xxh128; i++) {
        const tamis_hash x = hash_one(&h, sanity, xxh128[i].length);
        CHECK(x.lo == xxh128[i].lo && x.hi == xxh128[i].hi);
    }
}

static void test_xxh3_all_lengths_and_seeds(void)
{
    prepare();
    const uint64_t seeds[] = {0, 1, UINT64_C(0x9e3779b185ebca8d), UINT64_MAX};
    uint64_t digest = 0;
    for (size_t s = 0; s < 4; s++) {
        struct hasher h;
        tamis__hasher_init(&h, seeds[s], NULL);
        for (size_t n = 0; n <= 300; n++) digest = fold(digest, hash_one(&h, sanity, n));
    }
    CHECK(digest == UINT64_C(0xd6b024bbbd317a62));
}

/* Many keys in one call, of all lengths and mixtures of lengths, at any alignment, are hashed as
 * each alone. */
static void test_many_as_one(void)
{
    prepare();
    const struct kernels *runnable[8];
    const size_t tables = tamis__runnable_kernels(runnable);
    for (size_t t = 0; t < tables; t++) {
        tamis__use_kernels(runnable[t]);
        for (size_t round = 0; round < 400; round++) {
            struct hasher h;
            tamis_bytes keys[40];
            tamis_hash out[40];
            const size_t n = 1 + round % 40, least = round % 70, spread = 1 + round / 40 * 7;
            tamis__hasher_init(&h, round * UINT64_C(0x9e3779b97f4a7c15), NULL);
            for (size_t i = 0; i < n; i++)
                keys[i] = (tamis_bytes){sanity + i * 3 % 29, least + (i * 37 + round) % spread};
            tamis__hash_keys(&h, keys, n, out);
            for (size_t i = 0; i < n; i++) {
                const tamis_hash one = hash_one(&h, keys[i].p, keys[i].len);
                CHECK(one.lo == out[i].lo && one.hi == out[i].hi);
                const tamis_hash alone = tamis__hash_key(&h, keys[i].p, keys[i].len);
                CHECK(one.lo == alone.lo && one.hi == alone.hi);
            }
        }
    }
    tamis__use_kernels(runnable[0]);
}

/* XXH3-64, of which the sums of an image are made. */
static void test_checksum(void)
{
    prepare();
    CHECK(tamis__checksum("", 0) == UINT64_C(0x2d06800538d394c2));
    CHECK(tamis__checksum(sanity, 2048) == UINT64_C(0xdd59e2c3a5f038e0));
    uint64_t digest = 0;
    for (size_t n = 1; n <= 301; n++)
        digest = (digest << 7 | digest >> 57) ^ tamis__checksum(sanity, n <= 300 ? n : 4096);
    CHECK(digest == UINT64_C(0x09db4e30307d906f));
}

/* Memory at any alignment, and the end of a key is its end: no byte after it matters. */
static void test_alignment(void)
{
    prepare();
    uint8_t buffer[64 + 320];
    for (int keyed = 0; keyed < 2; keyed++) {
        struct hasher h;
        tamis__hasher_init(&h, 0, keyed != 0 ? counting_key : NULL);
        for (size_t shift = 0; shift < 17; shift++)
            for (size_t n = 0; n <= 300; n += 1 + n / 20) {
                memset(buffer, (int)shift + 100, sizeof buffer);
                memcpy(buffer + shift, sanity, n);
                const tamis_hash a = hash_one(&h, buffer + shift, n), b = hash_one(&h, sanity, n);
                CHECK(a.lo == b.lo && a.hi == b.hi);
            }
    }
}

static void test_empty_key_without_pointer(void)
{
    prepare();
    for (int keyed = 0; keyed < 2; keyed++) {
        struct hasher h;
        tamis__hasher_init(&h, 7, keyed != 0 ? counting_key : NULL);
        const tamis_hash a = hash_one(&h, NULL, 0), b = hash_one(&h, "x", 0);
        CHECK(a.lo == b.lo && a.hi == b.hi);
    }
}

#define BATCH 67u

/* Keys of one length and of mixed ones: some lengths go through several lanes at a time. */
static void test_batch_is_one_by_one(void)
{
    prepare();
    tamis_bytes keys[BATCH];
    tamis_hash all[BATCH];
    for (size_t length = 0; length <= 41; length++)
        for (int keyed = 0; keyed < 2; keyed++) {
            struct hasher h;
            tamis__hasher_init(&h, 3, keyed != 0 ? counting_key : NULL);
            for (size_t i = 0; i < BATCH; i++)
                keys[i] = (tamis_bytes){sanity + 5 * i, length <= 40 ? length : i * 9};
            tamis__hash_keys(&h, keys, BATCH, all);
            for (size_t i = 0; i < BATCH; i++) {
                const tamis_hash one = hash_one(&h, keys[i].p, keys[i].len);
                CHECK(all[i].lo == one.lo && all[i].hi == one.hi);
            }
        }
}

/* OpenSSL says the same: openssl mac -macopt hexkey:000102...0f -macopt size:16 SIPHASH. */
static void test_key_id(void)
{
    static const uint8_t id[16] = {0x8c, 0x51, 0x88, 0xd7, 0x90, 0xe5, 0xdd, 0xba,
                                   0xe0, 0x02, 0x84, 0x37, 0xfc, 0x1a, 0x71, 0x6e};
    static const uint8_t none[16] = {0};
    prepare();
    struct hasher h;
    tamis__hasher_init(&h, 0, counting_key);
    CHECK(memcmp(tamis__hasher_key_id(&h), id, 16) == 0);
    CHECK(h.id == TAMIS_SIPHASH && h.usable && tamis__hasher_seed(&h) == 0);
    tamis__hasher_init(&h, 5, NULL);
    CHECK(memcmp(tamis__hasher_key_id(&h), none, 16) == 0);
    CHECK(h.id == TAMIS_XXH3 && h.usable && tamis__hasher_seed(&h) == 5);
}

static void test_hasher_equal(void)
{
    prepare();
    struct hasher plain, seeded, keyed, other;
    tamis__hasher_init(&plain, 0, NULL);
    tamis__hasher_init(&seeded, 1, NULL);
    tamis__hasher_init(&keyed, 0, counting_key);
    static const uint8_t bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x8f};
    struct tamis_key *key = tamis__key_make(bytes, NULL);
    CHECK(key != NULL);
    tamis__hasher_init(&other, 0, key);
    CHECK(tamis__hasher_equal(&plain, &plain) && tamis__hasher_equal(&keyed, &keyed));
    CHECK(!tamis__hasher_equal(&plain, &seeded));
    CHECK(!tamis__hasher_equal(&plain, &keyed));
    CHECK(!tamis__hasher_equal(&keyed, &other));
    tamis__key_leave(key);
}

static const struct test tests[] = {
    {"siphash vectors", test_siphash_vectors},
    {"siphash all lengths", test_siphash_all_lengths},
    {"xxh3 vectors", test_xxh3_vectors},
    {"xxh3 all lengths and seeds", test_xxh3_all_lengths_and_seeds},
    {"many as one", test_many_as_one},
    {"checksum", test_checksum},
    {"alignment", test_alignment},
    {"empty key without pointer", test_empty_key_without_pointer},
    {"batch is one by one", test_batch_is_one_by_one},
    {"key id", test_key_id},
    {"hasher equal", test_hasher_equal},
};

TEST_MAIN(tests)
