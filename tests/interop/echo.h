/* What echo-server.c, echo-client.c and java/protobuf/Echo.java say to each other, in fields that
 * no message of Hadoop has: they travel as unknown fields through any method. */
#ifndef SELVEDGE_TESTS_INTEROP_ECHO_H
#define SELVEDGE_TESTS_INTEROP_ECHO_H

enum echo_field {
    ECHO_REPLY = 50001, /* request, bytes: the packed response that is wanted */
    ECHO_FAIL = 50002,  /* request, string: "CLASS\nmessage", the exception that is wanted */
    ECHO_BATCH = 50003, /* request, varint n: answered, last first, when n of them have arrived */
    ECHO_SEEN = 50004,  /* response, bytes: the request, unpacked and packed again */
    ECHO_CONNS = 50005, /* response, varint: connections that the server has open */
};

#endif
