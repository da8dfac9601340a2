/* What libtamis-cuda reports where there is no device, and for arguments that are wrong wherever it
 * runs. With a device, bench-cuda --check has the rest. */
#include <tamis/cuda.h>

#include "../support/check.h"

static void check_reason(tamis_status got, tamis_status want, const tamis_error *why,
                         const char *part)
{
    CHECK_THAT(got, ==, want);
    CHECK(why->status == want && strstr(why->text, part) != NULL);
    CHECK(strchr(why->text, '\n') == NULL);
}

static tamis_plan small_plan(uint32_t kind)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = kind, .items = 1000, .fpr = 0.01};
    return p;
}

static void test_arguments(void)
{
    tamis_error why;
    tamis_cuda_options o = TAMIS_CUDA_OPTIONS_INIT;
    tamis_cuda_keys keys = TAMIS_CUDA_KEYS_INIT;
    tamis_plan p = small_plan(TAMIS_BLOCKED);
    tamis_cuda *f = NULL;
    tamis *t = NULL;
    void *memory = NULL;
    uint64_t n = 1;
    check_reason(tamis_cuda_create(&p, NULL, NULL, &why), TAMIS_EINVAL, &why, "out");
    check_reason(tamis_cuda_create(NULL, NULL, &f, &why), TAMIS_EINVAL, &why, "plan");
    check_reason(tamis_cuda_upload(NULL, NULL, &f, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_download(NULL, NULL, &t, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_add(NULL, &keys, NULL, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_query(NULL, &keys, NULL, NULL, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_select(NULL, &keys, NULL, NULL, NULL, &why), TAMIS_EINVAL, &why,
                 "NULL");
    check_reason(tamis_cuda_merge(NULL, NULL, NULL, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_add_host(NULL, &keys, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_query_host(NULL, &keys, NULL, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_wait(NULL, NULL, &why), TAMIS_EINVAL, &why, "NULL");
    check_reason(tamis_cuda_alloc(8, NULL, &why), TAMIS_EINVAL, &why, "out");
    check_reason(tamis_cuda_copy(NULL, memory, 8, &why), TAMIS_EINVAL, &why, "two addresses");
    CHECK(tamis_cuda_cells(NULL, &n) == NULL && n == 0);
    o.scratch_bytes = 4096;
    check_reason(tamis_cuda_create(&p, &o, &f, &why), TAMIS_EINVAL, &why, "1 MiB");
    o.struct_size = 3;
    check_reason(tamis_cuda_create(&p, &o, &f, &why), TAMIS_EINVAL, &why, "struct_size");
    p = small_plan(TAMIS_CUCKOO);
    check_reason(tamis_cuda_create(&p, NULL, &f, &why), TAMIS_EUNSUPPORTED, &why, "blocked");
    p = small_plan(TAMIS_BLOCKED);
    p.flags = TAMIS_STRICT;
    check_reason(tamis_cuda_create(&p, NULL, &f, &why), TAMIS_EUNSUPPORTED, &why, "strict");
    p.flags = 0;
    p.fpr = 2;
    CHECK_THAT(tamis_cuda_create(&p, NULL, &f, NULL), ==, TAMIS_EINVAL);
    CHECK(f == NULL && t == NULL);
    tamis_cuda_close(NULL);
    CHECK(tamis_cuda_cells(NULL, NULL) == NULL);
    tamis_cuda_free(NULL);
}

static void test_without_device(void)
{
    tamis_error why;
    if (tamis_cuda_available(&why)) return;
    const tamis_plan p = small_plan(TAMIS_BLOCKED);
    tamis_cuda *f = (tamis_cuda *)&why;
    tamis *t;
    void *memory = &why;
    CHECK(why.status == TAMIS_EUNSUPPORTED);
    CHECK(strstr(why.text, "no CUDA device can be used: ") != NULL);
    CHECK(!tamis_cuda_available(NULL));
    check_reason(tamis_cuda_create(&p, NULL, &f, &why), TAMIS_EUNSUPPORTED, &why, "no CUDA device");
    CHECK(f == NULL);
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    f = (tamis_cuda *)&why;
    check_reason(tamis_cuda_upload(t, NULL, &f, &why), TAMIS_EUNSUPPORTED, &why, "no CUDA device");
    CHECK(f == NULL);
    check_reason(tamis_cuda_alloc(8, &memory, &why), TAMIS_EUNSUPPORTED, &why, "no CUDA device");
    CHECK(memory == NULL);
    tamis_close(t);
}

static const struct test tests[] = {{"arguments", test_arguments},
                                    {"without a device", test_without_device}};
TEST_MAIN(tests)
