import com.google.protobuf.BlockingService;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.ServiceException;
import com.google.protobuf.UnknownFieldSet;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.security.token.SecretManager;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.security.NMTokenIdentifier;

/**
 * Hadoop's own RPC.Server with the behaviour of tests/interop/echo-server.c, and the constants of both
 * (tests/interop/echo.h).
 */
final class Echo {
  static final int REPLY = 50001;
  static final int FAIL = 50002;
  static final int BATCH = 50003;
  static final int SEEN = 50004;
  static final int CONNS = 50005;
  static final int SMALL_FRAME = 65536;
  static final int HANDLERS = 80;
  static final byte[] KEY = {1, 2, 3, 4, 5, 6, 7, (byte) 0x88};

  /** Protocols, the four of a running cluster first. */
  static final String[] PROTOCOLS = {
    "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB",
    "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB",
    "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB",
    "org.apache.hadoop.yarn.server.api.ResourceTrackerPB",
    "org.apache.hadoop.yarn.server.api.ResourceManagerAdministrationProtocolPB",
    "org.apache.hadoop.ha.protocolPB.HAServiceProtocolPB",
  };
  static final String MASTER = PROTOCOLS[1];
  static final String CONTAINERS = PROTOCOLS[2];

  private Echo() {
  }

  // ---- Unknown fields, in any message ----

  static ByteString bytes(Message m, int field) {
    List<ByteString> all = m.getUnknownFields().getField(field).getLengthDelimitedList();
    return all.isEmpty() ? null : all.get(0);
  }

  static long number(Message m, int field) {
    List<Long> all = m.getUnknownFields().getField(field).getVarintList();
    return all.isEmpty() ? 0 : all.get(0);
  }

  private static UnknownFieldSet.Field delimited(ByteString value) {
    return UnknownFieldSet.Field.newBuilder().addLengthDelimited(value).build();
  }

  static UnknownFieldSet.Field varint(long value) {
    return UnknownFieldSet.Field.newBuilder().addVarint(value).build();
  }

  static Message with(Message m, int field, UnknownFieldSet.Field value) {
    return m.toBuilder().setUnknownFields(
        UnknownFieldSet.newBuilder(m.getUnknownFields()).addField(field, value).build()).build();
  }

  static Message with(Message m, int field, ByteString value) {
    return with(m, field, delimited(value));
  }

  static Message without(Message m, int... fields) {
    UnknownFieldSet.Builder left = UnknownFieldSet.newBuilder();
    for (Map.Entry<Integer, UnknownFieldSet.Field> e : m.getUnknownFields().asMap().entrySet()) {
      boolean kept = true;
      for (int field : fields) {
        kept &= e.getKey() != field;
      }
      if (kept) {
        left.addField(e.getKey(), e.getValue());
      }
    }
    return m.toBuilder().setUnknownFields(left.build()).build();
  }

  // ---- Protocols of this version ----

  /** The PB interface, or null if this version lacks the protocol. */
  static Class<?> protocol(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException absent) {
      return null;
    }
  }

  private static Class<?> blocking(Class<?> pb) {
    for (Class<?> c : pb.getInterfaces()) {
      if (c.getName().endsWith("$BlockingInterface")) {
        return c;
      }
    }
    throw new IllegalStateException(pb + " has no BlockingInterface");
  }

  /** Methods by name, of the protocol's proxies. */
  static Map<String, Method> methods(Class<?> pb) {
    Map<String, Method> out = new LinkedHashMap<>();
    for (Method m : blocking(pb).getMethods()) {
      out.put(m.getName(), m);
    }
    return out;
  }

  static Message prototype(Class<?> message) throws Exception {
    return (Message) message.getMethod("getDefaultInstance").invoke(null);
  }

  // ---- Server ----

  private static final class Batch {
    private int arrived;
    private int left;

    /** Returns when n calls have arrived, to the last of them first. */
    synchronized void await(int n) throws InterruptedException {
      int mine = ++arrived;
      if (arrived == n) {
        left = n;
        arrived = 0;
        notifyAll();
      }
      while (left != mine) {
        wait();
      }
    }

    synchronized void done() {
      left--;
      notifyAll();
    }
  }

  private static Throwable failure(String wanted) throws Exception {
    String[] words = wanted.split("\n", 2);
    Constructor<?> made = Class.forName(words[0]).getDeclaredConstructor(String.class);
    made.setAccessible(true);
    return (Throwable) made.newInstance(words[1]);
  }

  static final class Served implements AutoCloseable {
    final List<RPC.Server> servers = new ArrayList<>();
    private final Batch batch = new Batch();

    int connections() {
      int n = 0;
      for (RPC.Server s : servers) {
        n += s.getNumOpenConnections();
      }
      return n;
    }

    private Object answer(Method method, Message request) throws Throwable {
      ByteString wanted = bytes(request, FAIL);
      if (wanted != null) {
        throw new ServiceException(failure(wanted.toStringUtf8()));
      }
      wanted = bytes(request, REPLY);
      if (wanted == null) {
        throw new ServiceException(new IllegalArgumentException(method.getName() + ": no response to send"));
      }
      int n = (int) number(request, BATCH);
      if (n > 0) {
        batch.await(n);
      }
      try {
        Message out = prototype(method.getReturnType()).newBuilderForType().mergeFrom(wanted).build();
        out = with(out, SEEN, request.toByteString());
        return with(out, CONNS, varint(connections()));
      } finally {
        if (n > 0) {
          batch.done();
        }
      }
    }

    private BlockingService service(Class<?> pb) throws Exception {
      Class<?> blocking = blocking(pb);
      Object impl = Proxy.newProxyInstance(pb.getClassLoader(), new Class<?>[] {blocking},
          (self, method, args) -> answer(method, (Message) args[1]));
      return (BlockingService) blocking.getEnclosingClass()
          .getMethod("newReflectiveBlockingService", blocking).invoke(null, impl);
    }

    private void serve(Configuration conf, SecretManager<? extends TokenIdentifier> secrets, int handlers,
        String... protocols) throws Exception {
      RPC.Server server = null;
      for (String name : protocols) {
        Class<?> pb = protocol(name);
        if (pb == null) {
          continue;
        }
        RPC.setProtocolEngine(conf, pb, ProtobufRpcEngine2.class);
        if (server == null) {
          server = new RPC.Builder(conf).setProtocol(pb).setInstance(service(pb)).setBindAddress("127.0.0.1")
              .setPort(0).setNumHandlers(handlers).setSecretManager(secrets).build();
        } else {
          server.addProtocol(RPC.RpcKind.RPC_PROTOCOL_BUFFER, pb, service(pb));
        }
      }
      server.start();
      servers.add(server);
    }

    int[] ports() {
      return servers.stream().mapToInt(s -> s.getListenerAddress().getPort()).toArray();
    }

    @Override
    public void close() {
      for (RPC.Server s : servers) {
        s.stop();
      }
    }
  }

  private abstract static class Secrets<T extends TokenIdentifier> extends SecretManager<T> {
    @Override
    protected byte[] createPassword(T id) {
      return createPassword(id.getBytes(), createSecretKey(KEY));
    }

    @Override
    public byte[] retrievePassword(T id) {
      return createPassword(id);
    }
  }

  private static final class MasterSecrets extends Secrets<AMRMTokenIdentifier> {
    @Override
    public AMRMTokenIdentifier createIdentifier() {
      return new AMRMTokenIdentifier();
    }
  }

  private static final class NodeSecrets extends Secrets<NMTokenIdentifier> {
    @Override
    public NMTokenIdentifier createIdentifier() {
      return new NMTokenIdentifier();
    }
  }

  /** The five servers, in the order of echo-server.c's ports. */
  static Served serve() throws Exception {
    Configuration conf = new Configuration();
    Configuration token = new Configuration(conf);
    token.set("hadoop.security.authentication", "TOKEN");
    Configuration small = new Configuration(conf);
    small.setInt("ipc.maximum.data.length", SMALL_FRAME);
    Served s = new Served();
    s.serve(conf, null, HANDLERS, PROTOCOLS);
    s.serve(token, new MasterSecrets(), 2, MASTER);
    s.serve(token, new NodeSecrets(), 2, CONTAINERS);
    s.serve(small, null, 2, PROTOCOLS);
    s.serve(conf, new NodeSecrets(), 2, PROTOCOLS);
    return s;
  }
}
