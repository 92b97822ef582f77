// Hadoop's own IPC classes facing the wire component, driven by tests/interop/test-wire.
//
//   WirePeer simple PORT               an ApplicationClientProtocol client, SIMPLE
//   WirePeer token PORT KEY-ID FLIP    a ContainerManagementProtocol client with an NMToken; FLIP is
//                                      exclusive-ored into the password's first byte
//   WirePeer conversation PORT         the same client with the right token, for tests/interop/capture-wire:
//                                      a call that is answered and one that fails
//   WirePeer protected {PORT PROTECTION}...
//                                      for each pair a new client with that hadoop.rpc.protection: 30000
//                                      ids in one call, then 640 small calls by 64 threads; a line each
//   WirePeer serve [PROTECTION]...     ContainerManagementProtocol servers that demand NMTokens, one for
//                                      each hadoop.rpc.protection ("authentication" if none is named);
//                                      prints "ready PORT..." and ends at the end of its standard input
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationReportRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetContainerStatusesResponse;
import org.apache.hadoop.yarn.api.protocolrecords.GetNewApplicationRequest;
import org.apache.hadoop.yarn.api.protocolrecords.StopContainersRequest;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;

public class WirePeer {
  static final byte[] KEY = {1, 2, 3, 4, 5, 6, 7, (byte) 0x88};
  static final ApplicationId APP = ApplicationId.newInstance(1700000000123L, 42);
  static final ApplicationAttemptId ATTEMPT = ApplicationAttemptId.newInstance(APP, 3);

  static byte[] mac(String algorithm, byte[] id) throws Exception {
    Mac m = Mac.getInstance(algorithm);
    m.init(new SecretKeySpec(KEY, algorithm));
    return m.doFinal(id);
  }

  static String why(Throwable e) {
    return e.getClass().getName() + ": " + String.valueOf(e.getMessage()).split("\n")[0];
  }

  // ---- Clients ----

  static void simple(int port) throws Exception {
    Configuration conf = new Configuration();
    UserGroupInformation user = UserGroupInformation.createRemoteUser("gustav");
    user.doAs((PrivilegedExceptionAction<Void>) () -> {
      ApplicationClientProtocol p = (ApplicationClientProtocol) YarnRPC.create(conf).getProxy(
          ApplicationClientProtocol.class, new InetSocketAddress("127.0.0.1", port), conf);
      System.out.println("metrics " + p.getClusterMetrics(GetClusterMetricsRequest.newInstance())
          .getClusterMetrics().getNumNodeManagers());
      try {
        p.getApplicationReport(GetApplicationReportRequest.newInstance(APP));
      } catch (Exception e) {
        System.out.println("report " + why(e));
      }
      try {
        p.getNewApplication(GetNewApplicationRequest.newInstance());
      } catch (Exception e) {
        System.out.println("unserved " + why(e));
      }
      long before = System.nanoTime();
      for (int i = 0; i < 2000; i++) {
        p.getClusterMetrics(GetClusterMetricsRequest.newInstance());
      }
      System.out.println("calls 2000 in " + (System.nanoTime() - before) / 1000000 + " ms");
      return null;
    });
  }

  // The result of `use` with a ContainerManagementProtocol client that holds an NMToken.
  interface Use {
    String with(ContainerManagementProtocol p) throws Exception;
  }

  static String nodeManager(Configuration conf, int port, int keyId, int flip, Use use) throws Exception {
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", port);
    NMTokenIdentifier id =
        new NMTokenIdentifier(ATTEMPT, NodeId.newInstance("127.0.0.1", port), "alice", keyId);
    byte[] password = mac("HmacSHA1", id.getBytes());
    password[0] ^= (byte) flip;
    Token<NMTokenIdentifier> token =
        new Token<>(id.getBytes(), password, id.getKind(), SecurityUtil.buildTokenService(address));
    UserGroupInformation user = UserGroupInformation.createRemoteUser(ATTEMPT.toString());
    user.addToken(token);
    return user.doAs((PrivilegedExceptionAction<String>) () -> {
      ContainerManagementProtocol p = (ContainerManagementProtocol) YarnRPC.create(conf).getProxy(
          ContainerManagementProtocol.class, address, conf);
      try {
        return use.with(p);
      } catch (Exception e) {
        return why(e);
      }
    });
  }

  static GetContainerStatusesRequest statuses(int n) {
    List<ContainerId> ids = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      ids.add(ContainerId.newContainerId(ATTEMPT, 7 + i));
    }
    return GetContainerStatusesRequest.newInstance(ids);
  }

  static void token(int port, int keyId, int flip) throws Exception {
    System.out.println(nodeManager(new Configuration(), port, keyId, flip, p -> {
      GetContainerStatusesResponse r = p.getContainerStatuses(statuses(1));
      return "ok " + r.getContainerStatuses().get(0).getState() + " "
          + r.getContainerStatuses().get(0).getDiagnostics();
    }));
  }

  static void conversation(int port) throws Exception {
    System.out.println(nodeManager(new Configuration(), port, 77, 0, p -> {
      p.getContainerStatuses(statuses(1));
      p.stopContainers(StopContainersRequest.newInstance(statuses(1).getContainerIds()));
      return "no exception";
    }));
  }

  static int manyAtOnce(ContainerManagementProtocol p) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(64);
    List<Future<Integer>> results = new ArrayList<>();
    for (int i = 0; i < 640; i++) {
      int n = i % 5;
      results.add(threads.submit(
          () -> p.getContainerStatuses(statuses(n)).getContainerStatuses().size() == n ? 1 : 0));
    }
    int good = 0;
    for (Future<Integer> r : results) {
      good += r.get();
    }
    threads.shutdown();
    return good;
  }

  static void protectedBy(String[] args) throws Exception {
    for (int i = 1; i + 1 < args.length; i += 2) {
      Configuration conf = new Configuration();
      conf.set("hadoop.rpc.protection", args[i + 1]);
      System.out.println(nodeManager(conf, Integer.parseInt(args[i]), 77, 0, p -> {
        List<ContainerStatus> all = p.getContainerStatuses(statuses(20000)).getContainerStatuses();
        return "ok " + all.size() + " " + all.get(19999).getContainerId() + " " + manyAtOnce(p);
      }));
    }
  }

  // ---- Server ----

  static class Secrets extends SecretManager<NMTokenIdentifier> {
    @Override
    protected byte[] createPassword(NMTokenIdentifier id) {
      return createPassword(id.getBytes(), createSecretKey(KEY));
    }

    @Override
    public byte[] retrievePassword(NMTokenIdentifier id) {
      return createPassword(id);
    }

    @Override
    public NMTokenIdentifier createIdentifier() {
      return new NMTokenIdentifier();
    }
  }

  static Server server(String protection) throws Exception {
    Configuration conf = new Configuration();
    conf.set("hadoop.security.authentication", "simple");
    conf.set("hadoop.security.authorization", "false");
    conf.set("hadoop.rpc.protection", protection);
    // Hadoop's NodeManager too refuses clients without a token (ContainerManagerImpl.serviceStart).
    Configuration tokenOnly = new Configuration(conf);
    tokenOnly.set("hadoop.security.authentication", "TOKEN");
    Object impl = Proxy.newProxyInstance(WirePeer.class.getClassLoader(),
        new Class<?>[] {ContainerManagementProtocol.class}, (self, method, args) -> {
          List<ContainerStatus> all = new ArrayList<>();
          String user = UserGroupInformation.getCurrentUser().getUserName();
          for (ContainerId id : ((GetContainerStatusesRequest) args[0]).getContainerIds()) {
            all.add(ContainerStatus.newInstance(id, ContainerState.RUNNING, user, 0));
          }
          return GetContainerStatusesResponse.newInstance(all, null);
        });
    Server server = YarnRPC.create(tokenOnly).getServer(ContainerManagementProtocol.class, impl,
        new InetSocketAddress("127.0.0.1", 0), tokenOnly, new Secrets(), 2);
    server.start();
    return server;
  }

  static void serve(String[] args) throws Exception {
    StringBuilder ports = new StringBuilder("ready");
    for (int i = 1; i < Math.max(args.length, 2); i++) {
      Server server = server(i < args.length ? args[i] : "authentication");
      ports.append(" ").append(server.getListenerAddress().getPort());
    }
    System.out.println(ports);
    while (System.in.read() >= 0) {
      continue;
    }
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "simple": simple(Integer.parseInt(args[1])); break;
      case "token": token(Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3])); break;
      case "conversation": conversation(Integer.parseInt(args[1])); break;
      case "protected": protectedBy(args); break;
      case "serve": serve(args); break;
      default: throw new IllegalArgumentException(args[0]);
    }
    System.exit(0);
  }
}
