/* See bcfile.h: code shared by writer and reader. */
#include "logs/bcfile.h"

#include <errno.h>
#include <string.h>

const uint8_t logs_bcfile_magic[LOGS_MAGIC_BYTES] = { 0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5,
                                                      0xd7, 0xb6, 0x39, 0xdf, 0x41, 0x40,
                                                      0x92, 0xba, 0xe1, 0x50 };

static const char *const names[] = { [LOGS_NONE] = "none", [LOGS_GZ] = "gz" };

const char *logs_codec_name(enum logs_codec c)
{
    return names[c];
}

int logs_codec_parse(const char *name, enum logs_codec *ret)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum logs_codec)i;
            return 0;
        }
    return strcmp(name, "lzo") == 0 ? -EOPNOTSUPP : -EINVAL;
}
