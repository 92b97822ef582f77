/* Names of values of the wire. */
#include <string.h>

#include "client/lib/internal.h"

const char *cli_enum_name(const ProtobufCEnumDescriptor *d, int value, const char *prefix)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(d, value);
    size_t n = strlen(prefix);

    if (!v)
        return "?";
    return strncmp(v->name, prefix, n) == 0 ? v->name + n : v->name;
}
