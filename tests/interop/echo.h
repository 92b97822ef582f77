/* Fields of echo-server.c, echo-client.c and java/protobuf/Echo.java that no message of Hadoop has:
 * they pass any method as unknown fields. */
#ifndef SELVEDGE_TESTS_INTEROP_ECHO_H
#define SELVEDGE_TESTS_INTEROP_ECHO_H

enum echo_field {
    ECHO_REPLY = 50001, /* request, bytes: the intended response, packed */
    ECHO_FAIL = 50002,  /* request, string: "CLASS\nmessage", the intended exception */
    ECHO_BATCH = 50003, /* request, varint n: answered, last first, when n of them have arrived */
    ECHO_SEEN = 50004,  /* response, bytes: the request, unpacked and packed again */
    ECHO_CONNS = 50005, /* response, varint: connections that the server has open */
};

#endif
