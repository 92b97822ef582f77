import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.RpcController;
import com.google.protobuf.ServiceException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.ProtocolInfo;
import org.apache.hadoop.ipc.ProtocolMetaInfoPB;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.protobuf.ProtocolInfoProtos.GetProtocolVersionsRequestProto;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetClusterMetricsRequestProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetClusterMetricsResponseProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetNewApplicationRequestProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetNewApplicationResponseProto;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;

/**
 * Hadoop's clients call every method, at our server and at Hadoop's own, with the same assertions.
 *
 * <p>Methods PORT...: echo-server.c's ports. Prints lines "ok NAME" and "FAIL NAME: why"
 * (tabs between), then "method PROTOCOL NAME" for all methods of this version, then "ready PORT..." of
 * Hadoop's servers, and ends at the end of its standard input. Driven by tests/interop/test-methods.
 */
public final class Methods {
  private static final Configuration CONF = new Configuration();
  private static final ApplicationAttemptId ATTEMPT =
      ApplicationAttemptId.newInstance(ApplicationId.newInstance(1700000000123L, 42), 3);
  private static final String CLIENT = Echo.PROTOCOLS[0];
  /** Its PBClientImpl calls updateContainer. */
  private static final String RENAMED = "increaseContainersResource";
  private static final int BULK = 8 << 20;
  private static final int TOGETHER = 64;
  private static final int IN_A_ROW = 1000;

  /** One of the two servers that are compared. */
  private static final class Target {
    final String name;
    final int[] ports;
    final Map<String, Object> proxies = new HashMap<>();
    final Map<String, Object> clients = new HashMap<>();

    Target(String name, int[] ports) {
      this.name = name;
      this.ports = ports;
    }

    InetSocketAddress address(String protocol) {
      int which = protocol.equals(Echo.MASTER) ? 1 : protocol.equals(Echo.CONTAINERS) ? 2 : 0;
      return new InetSocketAddress("127.0.0.1", ports[which]);
    }

    /** A permitted caller of the protocol: the holder of its token, or a user name. */
    UserGroupInformation user(String protocol) throws Exception {
      UserGroupInformation user = UserGroupInformation.createRemoteUser(ATTEMPT.toString());
      InetSocketAddress at = address(protocol);
      TokenIdentifier id = protocol.equals(Echo.MASTER) ? new AMRMTokenIdentifier(ATTEMPT, 77)
          : protocol.equals(Echo.CONTAINERS)
              ? new NMTokenIdentifier(ATTEMPT, NodeId.newInstance("127.0.0.1", at.getPort()), "alice", 77) : null;
      if (id != null) {
        Mac mac = Mac.getInstance("HmacSHA1");
        mac.init(new SecretKeySpec(Echo.KEY, "HmacSHA1"));
        user.addToken(new Token<TokenIdentifier>(id.getBytes(), mac.doFinal(id.getBytes()), id.getKind(),
            SecurityUtil.buildTokenService(at)));
      }
      return user;
    }

    Object proxy(Class<?> pb) throws Exception {
      Object made = proxies.get(pb.getName());
      if (made == null) {
        made = Methods.proxy(pb, address(pb.getName()), user(pb.getName()));
        proxies.put(pb.getName(), made);
      }
      return made;
    }

    /** The PBClientImpl of a protocol, or null where Hadoop has none. */
    Object client(Class<?> pb) throws Exception {
      Class<?> impl = clientClass(pb);
      if (impl == null || clients.containsKey(pb.getName())) {
        return clients.get(pb.getName());
      }
      Constructor<?> made = null;
      for (Constructor<?> c : impl.getConstructors()) {
        if (c.getParameterCount() == 3) {
          made = c;
        }
      }
      Constructor<?> chosen = made;
      Object client = user(pb.getName()).doAs((PrivilegedExceptionAction<Object>) () ->
          chosen.newInstance(1L, address(pb.getName()), CONF));
      clients.put(pb.getName(), client);
      return client;
    }
  }

  private Methods() {
  }

  // ---- Calling ----

  private static Object proxy(Class<?> pb, InetSocketAddress at, UserGroupInformation user) throws Exception {
    RPC.setProtocolEngine(CONF, pb, ProtobufRpcEngine2.class);
    return RPC.getProxy(pb, RPC.getProtocolVersion(pb), at, user, CONF, NetUtils.getDefaultSocketFactory(CONF));
  }

  private static Class<?> clientClass(Class<?> pb) {
    String simple = pb.getSimpleName();
    try {
      return Class.forName(pb.getPackage().getName() + ".impl.pb.client." + simple + "ClientImpl");
    } catch (ClassNotFoundException absent) {
      return null;
    }
  }

  private static Throwable root(Throwable e) {
    while (e instanceof InvocationTargetException || e instanceof ServiceException && e.getCause() != null) {
      e = e.getCause();
    }
    return e;
  }

  private static Message call(Object proxy, Method method, Message request) throws Exception {
    try {
      return (Message) method.invoke(proxy, null, request);
    } catch (InvocationTargetException e) {
      throw root(e) instanceof Exception ? (Exception) root(e) : e;
    }
  }

  private static void same(String what, Message wanted, Message got) {
    if (wanted.equals(got)) {
      return;
    }
    String[] a = wanted.toString().split("\n");
    String[] b = got.toString().split("\n");
    for (int i = 0; i < Math.max(a.length, b.length); i++) {
      String x = i < a.length ? a[i] : "(end)";
      String y = i < b.length ? b[i] : "(end)";
      if (!x.equals(y)) {
        throw new AssertionError(what + " differs at line " + i + ": " + x.trim() + " became " + y.trim());
      }
    }
    throw new AssertionError(what + " differs, though not in its text");
  }

  private static Message seen(Message answer, Message sent) throws Exception {
    ByteString bytes = Echo.bytes(answer, Echo.SEEN);
    if (bytes == null) {
      throw new AssertionError("the answer does not hold what the server saw");
    }
    return sent.newBuilderForType().mergeFrom(bytes).build();
  }

  private static Message plain(Message answer) {
    return Echo.without(answer, Echo.SEEN, Echo.CONNS);
  }

  /** Calls, and compares the request as the server saw it and the response. */
  private static Message exchange(Object proxy, Method m, Message request, Message wanted) throws Exception {
    Message sent = Echo.with(request, Echo.REPLY, wanted.toByteString());
    Message answer = call(proxy, m, sent);
    same("the request", sent, seen(answer, sent));
    same("the response", wanted, plain(answer));
    return answer;
  }

  // ---- Every method ----

  private static void raw(Target t, Class<?> pb, Method m) throws Exception {
    Message request = Echo.prototype(m.getParameterTypes()[1]);
    Message response = Echo.prototype(m.getReturnType());
    for (Fill.Shape shape : Fill.Shape.values()) {
      try {
        exchange(t.proxy(pb), m, Fill.message(request, shape, 0), Fill.message(response, shape, 500));
      } catch (AssertionError e) {
        throw new AssertionError(shape + ": " + e.getMessage());
      }
    }
  }

  /** From the record's abstract class to its PBImpl class. */
  private static Class<?> recordClass(Class<?> record) throws ClassNotFoundException {
    return Class.forName(record.getPackage().getName() + ".impl.pb." + record.getSimpleName() + "PBImpl");
  }

  private static Object record(Class<?> type, Message proto) throws Exception {
    for (Constructor<?> c : recordClass(type).getDeclaredConstructors()) {
      if (c.getParameterCount() == 1 && c.getParameterTypes()[0].isInstance(proto)) {
        c.setAccessible(true);
        return c.newInstance(proto);
      }
    }
    throw new NoSuchMethodException(type + " from " + proto.getClass());
  }

  private static Message proto(Object record) throws Exception {
    Method m = record.getClass().getDeclaredMethod("getProto");
    m.setAccessible(true);
    return (Message) m.invoke(record);
  }

  /** The values of a record's getters, with their exceptions. */
  private static Map<String, String> read(Object record) {
    Map<String, String> out = new java.util.TreeMap<>();
    for (Method m : record.getClass().getMethods()) {
      if (m.getParameterCount() == 0 && m.getName().matches("(get|is)[A-Z].*")
          && !m.getName().matches("getProto|getClass|getProtoBuf")) {
        try {
          m.setAccessible(true);
          out.put(m.getName(), String.valueOf(m.invoke(record)).replaceAll("@[0-9a-f]+", "@"));
        } catch (Exception e) {
          out.put(m.getName(), "throws " + root(e).getClass().getName());
        }
      }
    }
    return out;
  }

  /** A request as a program makes it: through the record's getters and its merge. */
  private static Message throughRecord(Class<?> type, Message m) throws Exception {
    try {
      Object record = record(type, m);
      read(record);
      return proto(record);
    } catch (InvocationTargetException unreadable) {
      return m;
    }
  }

  private static Method recordMethod(Object client, String name) {
    for (Method m : client.getClass().getMethods()) {
      if (m.getName().equals(name) && m.getParameterCount() == 1 && !m.isBridge()) {
        return m;
      }
    }
    return null;
  }

  /** The same through PBClientImpl and records. False if Hadoop has no such class. */
  private static boolean records(Target t, Class<?> pb, Method m) throws Exception {
    Object client = t.client(pb);
    Method method = client == null ? null : recordMethod(client, m.getName());
    if (method == null || m.getName().equals(RENAMED) || !method.getParameterTypes()[0].getName().startsWith("org.apache.hadoop.yarn")) {
      return false;
    }
    Class<?> in = method.getParameterTypes()[0];
    for (Fill.Shape shape : Fill.Shape.values()) {
      Message request = throughRecord(in, Fill.message(Echo.prototype(m.getParameterTypes()[1]), shape, 0));
      Message wanted = Fill.message(Echo.prototype(m.getReturnType()), shape, 500);
      Message sent = Echo.with(request, Echo.REPLY, wanted.toByteString());
      Object answer;
      try {
        answer = method.invoke(client, record(in, sent));
      } catch (InvocationTargetException e) {
        throw new IllegalStateException(shape + " record: " + why(root(e)));
      }
      Message got = proto(answer);
      same(shape + " record of the request", sent, seen(got, sent));
      same(shape + " record of the response", wanted, plain(got));
      Map<String, String> a = read(record(method.getReturnType(), wanted));
      Map<String, String> b = read(answer);
      if (!a.equals(b)) {
        throw new AssertionError(shape + " record reads " + b + ", should read " + a);
      }
    }
    return true;
  }

  private static void everyMethod(Target t) throws Exception {
    int read = 0;
    for (String name : Echo.PROTOCOLS) {
      Class<?> pb = Echo.protocol(name);
      if (pb == null) {
        continue;
      }
      for (Map.Entry<String, Method> e : Echo.methods(pb).entrySet()) {
        String title = pb.getSimpleName() + "." + e.getKey();
        boolean[] done = new boolean[1];
        check(t, title, () -> {
          raw(t, pb, e.getValue());
          done[0] = records(t, pb, e.getValue());
        });
        read += done[0] ? 1 : 0;
      }
    }
    System.out.println("info\t" + t.name + "\t" + read + " methods through PBClientImpl too");
  }

  // ---- Large messages, many calls, concurrent calls ----

  private static byte[] noise(int n, int seed) {
    byte[] b = new byte[n];
    new java.util.Random(seed).nextBytes(b);
    return b;
  }

  private static void bulk(Target t) throws Exception {
    Class<?> pb = Echo.protocol(Echo.CONTAINERS);
    Method m = Echo.methods(pb).get("startContainers");
    Message request = Echo.prototype(m.getParameterTypes()[1]);
    Message response = Echo.prototype(m.getReturnType());
    // Nested, as containers' tokens are, and at the top level, as the answers of services are.
    Message.Builder start = request.newBuilderForType();
    com.google.protobuf.Descriptors.FieldDescriptor one =
        request.getDescriptorForType().findFieldByName("start_container_request");
    Message.Builder entry = start.newBuilderForField(one);
    Message.Builder context = entry.newBuilderForField(
        entry.getDescriptorForType().findFieldByName("container_launch_context"));
    context.setField(context.getDescriptorForType().findFieldByName("tokens"),
        ByteString.copyFrom(noise(BULK, 1)));
    entry.setField(entry.getDescriptorForType().findFieldByName("container_launch_context"), context.build());
    start.addRepeatedField(one, entry.build());
    Message.Builder out = response.newBuilderForType();
    com.google.protobuf.Descriptors.FieldDescriptor meta =
        response.getDescriptorForType().findFieldByName("services_meta_data");
    Message.Builder data = out.newBuilderForField(meta);
    data.setField(data.getDescriptorForType().findFieldByName("key"), "shuffle");
    data.setField(data.getDescriptorForType().findFieldByName("value"), ByteString.copyFrom(noise(BULK, 2)));
    out.addRepeatedField(meta, data.build());
    exchange(t.proxy(pb), m, start.build(), out.build());
  }

  private static GetClusterMetricsResponseProto metrics(int n) {
    GetClusterMetricsResponseProto.Builder b = GetClusterMetricsResponseProto.newBuilder();
    b.getClusterMetricsBuilder().setNumNodeManagers(n);
    return b.build();
  }

  private static Method metricsMethod() {
    return Echo.methods(Echo.protocol(CLIENT)).get("getClusterMetrics");
  }

  /** The server answers when all calls have arrived, the last first. One connection. */
  private static void together(Target t) throws Exception {
    Object proxy = t.proxy(Echo.protocol(CLIENT));
    Message before = exchange(proxy, metricsMethod(), GetClusterMetricsRequestProto.getDefaultInstance(), metrics(1));
    long conns = Echo.number(before, Echo.CONNS);
    ExecutorService pool = Executors.newFixedThreadPool(TOGETHER);
    List<Callable<Message>> calls = new ArrayList<>();
    for (int i = 0; i < TOGETHER; i++) {
      Message wanted = metrics(1000 + i);
      calls.add(() -> exchange(proxy, metricsMethod(), Echo.with(
          GetClusterMetricsRequestProto.getDefaultInstance(), Echo.BATCH, Echo.varint(TOGETHER)), wanted));
    }
    try {
      for (Future<Message> f : pool.invokeAll(calls)) {
        if (Echo.number(f.get(), Echo.CONNS) != conns) {
          throw new AssertionError(conns + " connections became " + Echo.number(f.get(), Echo.CONNS));
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static void inARow(Target t) throws Exception {
    Object proxy = t.proxy(Echo.protocol(CLIENT));
    long began = System.nanoTime();
    for (int i = 0; i < IN_A_ROW; i++) {
      exchange(proxy, metricsMethod(), GetClusterMetricsRequestProto.getDefaultInstance(), metrics(i));
    }
    System.out.println("info\t" + t.name + "\t" + IN_A_ROW + " calls one after another in "
        + (System.nanoTime() - began) / 1000000 + " ms");
  }

  // ---- Refusals, as a program sees them ----

  private static final String YARN = "org.apache.hadoop.yarn.exceptions.";
  private static final String[] EXCEPTIONS = {
    YARN + "YarnException",
    YARN + "ApplicationAttemptNotFoundException",
    YARN + "ApplicationMasterNotRegisteredException",
    YARN + "ApplicationNotFoundException",
    YARN + "ApplicationIdNotProvidedException",
    YARN + "ConfigurationException",
    YARN + "ContainerNotFoundException",
    YARN + "InvalidApplicationMasterRequestException",
    YARN + "InvalidAuxServiceException",
    YARN + "InvalidContainerException",
    YARN + "InvalidContainerReleaseException",
    YARN + "InvalidLabelResourceRequestException",
    YARN + "InvalidResourceBlacklistRequestException",
    YARN + "InvalidResourceRequestException",
    YARN + "NMNotYetReadyException",
    YARN + "ResourceNotFoundException",
    YARN + "ResourceProfilesNotEnabledException",
    YARN + "YARNFeatureNotEnabledException",
    YARN + "YarnRuntimeException",
    "org.apache.hadoop.security.AccessControlException",
    "org.apache.hadoop.security.authorize.AuthorizationException",
    "org.apache.hadoop.security.token.SecretManager$InvalidToken",
    "org.apache.hadoop.ipc.StandbyException",
    "org.apache.hadoop.ipc.RetriableException",
    "org.apache.hadoop.ha.HealthCheckFailedException",
    "org.apache.hadoop.ha.ServiceFailedException",
    "java.io.IOException",
    "java.io.FileNotFoundException",
    "java.net.ConnectException",
    "java.lang.IllegalArgumentException",
    "java.lang.IllegalStateException",
    "java.lang.NullPointerException",
    "java.lang.RuntimeException",
    "java.lang.UnsupportedOperationException",
  };

  /** Without the stack trace of Hadoop's servers, and the class name that 2.x prepends. */
  private static String text(Throwable e) {
    return String.valueOf(e.getMessage()).split("\n\tat ")[0].replaceFirst("^[\\w.$]+Exception: ", "").trim();
  }

  private static String why(Throwable e) {
    String code = e instanceof RemoteException
        ? " of " + ((RemoteException) e).getClassName() + " " + ((RemoteException) e).getErrorCode() : "";
    return e.getClass().getName() + code + ": " + text(e);
  }

  private interface Attempt {
    Object run() throws Exception;
  }

  private static String outcome(Attempt a) {
    try {
      return "no exception: " + a.run();
    } catch (Throwable e) {
      return why(root(e));
    }
  }

  /** Without the address: two servers differ in it. */
  private static String anywhere(String text, Target t) {
    for (int port : t.ports) {
      text = text.replace(":" + port, ":PORT");
    }
    return text;
  }

  private static Map<String, String> exceptions(Target t) throws Exception {
    Map<String, String> out = new LinkedHashMap<>();
    Class<?> pb = Echo.protocol(CLIENT);
    Object client = t.client(pb);
    Method method = recordMethod(client, "getClusterMetrics");
    String[] texts = {"what failed: \u00fcber \"x\"", "two\nlines", "long " + new String(new char[150]).replace("\0", "0123456789"), ""};
    for (int i = 0; i < EXCEPTIONS.length; i++) {
      String name = EXCEPTIONS[i];
      try {
        Class.forName(name);
      } catch (ClassNotFoundException absent) {
        continue;
      }
      for (String text : i < 1 ? texts : new String[] {texts[0]}) {
        Message request = Echo.with(GetClusterMetricsRequestProto.getDefaultInstance(), Echo.FAIL,
            ByteString.copyFromUtf8(name + "\n" + text));
        out.put(name + (text.equals(texts[0]) ? "" : " '" + text.substring(0, Math.min(5, text.length())) + "'"),
            outcome(() -> call(t.proxy(pb), metricsMethod(), request)) + " / "
            + outcome(() -> method.invoke(client, record(method.getParameterTypes()[0], request))));
      }
    }
    return out;
  }

  @ProtocolInfo(protocolName = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB", protocolVersion = 1)
  interface NoSuchMethod {
    GetNewApplicationResponseProto notThere(RpcController c, GetNewApplicationRequestProto r) throws ServiceException;
  }

  @ProtocolInfo(protocolName = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB", protocolVersion = 2)
  interface NoSuchVersion {
    GetNewApplicationResponseProto getNewApplication(RpcController c, GetNewApplicationRequestProto r)
        throws ServiceException;
  }

  @ProtocolInfo(protocolName = "org.example.Nowhere", protocolVersion = 1)
  interface NoSuchProtocol {
    GetNewApplicationResponseProto getNewApplication(RpcController c, GetNewApplicationRequestProto r)
        throws ServiceException;
  }

  private static Map<String, String> refusals(Target t) throws Exception {
    Map<String, String> out = new LinkedHashMap<>();
    InetSocketAddress at = t.address(CLIENT);
    UserGroupInformation user = t.user(CLIENT);
    Message request = GetNewApplicationRequestProto.getDefaultInstance();
    for (Class<?> c : new Class<?>[] {NoSuchMethod.class, NoSuchVersion.class, NoSuchProtocol.class}) {
      out.put(c.getSimpleName(), outcome(() -> call(proxy(c, at, user), c.getMethods()[0], request)));
    }
    Message large = Echo.with(request, Echo.REPLY, ByteString.copyFrom(noise(Echo.SMALL_FRAME, 3)));
    Class<?> pb = Echo.protocol(CLIENT);
    out.put("a request above ipc.maximum.data.length", outcome(() -> call(proxy(pb, new InetSocketAddress(
        "127.0.0.1", t.ports[3]), user), Echo.methods(pb).get("getNewApplication"), large)));
    for (String protocol : new String[] {Echo.MASTER, Echo.CONTAINERS}) {
      Class<?> tokens = Echo.protocol(protocol);
      Method m = Echo.methods(tokens).values().iterator().next();
      out.put(tokens.getSimpleName() + " without a token", outcome(() -> call(proxy(tokens, t.address(protocol),
          user), m, Fill.message(Echo.prototype(m.getParameterTypes()[1]), Fill.Shape.MINIMAL, 0))));
    }
    Object meta = proxy(ProtocolMetaInfoPB.class, at, user);
    for (String protocol : new String[] {CLIENT, "org.example.Nowhere"}) {
      out.put("versions of " + protocol, outcome(() -> call(meta, Echo.methods(ProtocolMetaInfoPB.class)
          .get("getProtocolVersions"), GetProtocolVersionsRequestProto.newBuilder().setProtocol(protocol).build())));
    }
    return out;
  }

  // ---- All ----

  private interface Step {
    void run() throws Exception;
  }

  private static void check(Target t, String name, Step step) {
    try {
      step.run();
      System.out.println("ok\t" + t.name + "\t" + name);
    } catch (Throwable e) {
      String where = e instanceof AssertionError || e.getStackTrace().length == 0 ? "" : " at " + e.getStackTrace()[0];
      System.out.println("FAIL\t" + t.name + "\t" + name + ": " + why(root(e)).replace('\n', '|') + where);
    }
  }

  private static void compare(String group, Target a, Map<String, String> ours, Target b, Map<String, String> theirs) {
    for (Map.Entry<String, String> e : theirs.entrySet()) {
      String mine = anywhere(String.valueOf(ours.get(e.getKey())), a);
      String real = anywhere(e.getValue(), b);
      System.out.println((mine.equals(real) ? "ok" : "FAIL") + "\tcompared\t" + group + ": " + e.getKey().replace('\n', '|')
          + (mine.equals(real) ? "" : ": ours: " + mine.replace('\n', '|') + " | Hadoop's: " + real.replace('\n', '|')));
    }
  }

  public static void main(String[] args) throws Exception {
    UserGroupInformation.setConfiguration(CONF);
    try (Echo.Served served = Echo.serve()) {
      Target[] targets = {new Target("ours", Arrays.stream(args).mapToInt(Integer::parseInt).toArray()),
          new Target("Hadoop's", served.ports())};
      for (Target t : targets) {
        everyMethod(t);
        check(t, "8 MiB there and back", () -> bulk(t));
        check(t, TOGETHER + " calls on one connection, answered backwards", () -> together(t));
        check(t, IN_A_ROW + " calls in a row", () -> inARow(t));
      }
      check(targets[0], "calls that came in one piece, answered backwards", () -> {
        String said = Conversations.backwards(targets[0].ports[0]);
        if (!said.matches("\\[7 .*\\[6 .*\\[5 .* goes on")) {
          throw new AssertionError(said);
        }
      });
      compare("exception", targets[0], exceptions(targets[0]), targets[1], exceptions(targets[1]));
      compare("refusal", targets[0], refusals(targets[0]), targets[1], refusals(targets[1]));
      compare("bytes", targets[0], Conversations.all(targets[0].ports), targets[1], Conversations.all(targets[1].ports));
      for (String name : Echo.PROTOCOLS) {
        Class<?> pb = Echo.protocol(name);
        if (pb != null) {
          for (String method : Echo.methods(pb).keySet()) {
            System.out.println("method\t" + RPC.getProtocolName(pb) + "\t" + method);
          }
        }
      }
      System.out.println("ready " + Arrays.toString(targets[1].ports).replaceAll("[\\[\\],]", ""));
      while (System.in.read() >= 0) {
        continue;
      }
    }
    System.exit(0);
  }
}
