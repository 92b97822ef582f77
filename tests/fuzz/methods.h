/* Descriptors of all request and response messages of the protocols; for fuzz targets. */
#ifndef SELVEDGE_TESTS_FUZZ_METHODS_H
#define SELVEDGE_TESTS_FUZZ_METHODS_H

#include "proto/hdfs_datanode.pb-c.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/ipc/methods.h"

#define DESCRIPTORS(name, request, response) &request##__descriptor, &response##__descriptor,

static const ProtobufCMessageDescriptor *const fuzz_types[] = {
    YARN_RESOURCE_TRACKER_METHODS(DESCRIPTORS) YARN_CONTAINER_MANAGEMENT_METHODS(DESCRIPTORS)
            YARN_APPLICATION_MASTER_METHODS(DESCRIPTORS)
                YARN_APPLICATION_CLIENT_METHODS(DESCRIPTORS) YARN_ADMIN_METHODS(DESCRIPTORS)
                    HADOOP_HA_SERVICE_METHODS(DESCRIPTORS) HADOOP_PROTOCOL_INFO_METHODS(DESCRIPTORS)
                        HDFS_CLIENT_METHODS(DESCRIPTORS) &
        hadoop__hdfs__op_read_block_proto__descriptor,
    &hadoop__hdfs__op_write_block_proto__descriptor,
    &hadoop__hdfs__data_transfer_encryptor_message_proto__descriptor,
    &hadoop__hdfs__block_op_response_proto__descriptor,
    &hadoop__hdfs__packet_header_proto__descriptor,
    &hadoop__hdfs__pipeline_ack_proto__descriptor,
};

#endif
