/* Tests hdfs/access.c: which handshake a connection to a DataNode begins with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hdfs/access.h"
#include "wire/sasl/qop.h"

/* Hadoop's order: the encryption key, no security, a privileged port, protection. */
static void test_choose(void **state)
{
    static const struct {
        bool encrypted, secure;
        uint8_t transfer_qop;
        uint32_t port;
        enum hdfs_handshake want;
    } cases[] = {
        { false, false, 0, 9866, HDFS_HANDSHAKE_NONE },
        { false, false, IPC_QOP_PRIVACY, 9866, HDFS_HANDSHAKE_NONE },
        { false, true, 0, 9866, HDFS_HANDSHAKE_NONE },
        { false, true, IPC_QOP_PRIVACY, 1023, HDFS_HANDSHAKE_NONE },
        { false, true, IPC_QOP_AUTH, 1024, HDFS_HANDSHAKE_TOKEN },
        { false, true, IPC_QOP_ALL, 9866, HDFS_HANDSHAKE_TOKEN },
        { true, false, 0, 9866, HDFS_HANDSHAKE_DATA_KEY },
        { true, true, IPC_QOP_AUTH, 1, HDFS_HANDSHAKE_DATA_KEY },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        const struct hdfs_site site = { .secure = cases[i].secure,
                                        .transfer_qop = cases[i].transfer_qop };

        assert_int_equal(hdfs_handshake_choose(&site, cases[i].encrypted, cases[i].port),
                         cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_choose) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
