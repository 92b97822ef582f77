// Hadoop's side of `make bench-ipc`: RPC.Server with ProtobufRpcEngine2 and the one method that the load
// generator calls, answered on the level of messages, without YARN's records in between: the least that a
// Java daemon does. 20 handlers are the NodeManager's default. Prints "ready PORT" and ends with its
// standard input. Its twin is tests/bench/ipc-serve.c.
import java.lang.reflect.Proxy;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;
import org.apache.hadoop.yarn.api.ContainerManagementProtocolPB;
import org.apache.hadoop.yarn.proto.ContainerManagementProtocol.ContainerManagementProtocolService;
import org.apache.hadoop.yarn.proto.YarnProtos.ContainerIdProto;
import org.apache.hadoop.yarn.proto.YarnProtos.ContainerStateProto;
import org.apache.hadoop.yarn.proto.YarnProtos.ContainerStatusProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetContainerStatusesRequestProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetContainerStatusesResponseProto;

public class IpcServe {
  static GetContainerStatusesResponseProto statuses(GetContainerStatusesRequestProto r) {
    GetContainerStatusesResponseProto.Builder out = GetContainerStatusesResponseProto.newBuilder();
    for (ContainerIdProto id : r.getContainerIdList()) {
      out.addStatus(ContainerStatusProto.newBuilder().setContainerId(id).setState(ContainerStateProto.C_RUNNING)
          .setDiagnostics("").setExitStatus(-1000));
    }
    return out.build();
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    RPC.setProtocolEngine(conf, ContainerManagementProtocolPB.class, ProtobufRpcEngine2.class);
    // BlockingInterface has a dozen methods more, which nobody calls here.
    ContainerManagementProtocolPB rest = (ContainerManagementProtocolPB) Proxy.newProxyInstance(
        IpcServe.class.getClassLoader(), new Class<?>[] {ContainerManagementProtocolPB.class},
        (self, method, a) -> {
          if (method.getName().equals("getContainerStatuses")) {
            return statuses((GetContainerStatusesRequestProto) a[1]);
          }
          throw new UnsupportedOperationException(method.getName());
        });
    BlockingService service = ContainerManagementProtocolService.newReflectiveBlockingService(rest);
    RPC.Server server = new RPC.Builder(conf).setProtocol(ContainerManagementProtocolPB.class)
        .setInstance(service).setBindAddress("127.0.0.1").setPort(0).setNumHandlers(20).build();
    server.start();
    System.out.println("ready " + server.getListenerAddress().getPort());
    while (System.in.read() >= 0) {
      continue;
    }
    server.stop();
    System.exit(0);
  }
}
