import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.ipc.protobuf.IpcConnectionContextProtos.IpcConnectionContextProto;
import org.apache.hadoop.ipc.protobuf.IpcConnectionContextProtos.UserInformationProto;
import org.apache.hadoop.ipc.protobuf.ProtobufRpcEngine2Protos.RequestHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcKindProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcRequestHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcRequestHeaderProto.OperationProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcResponseHeaderProto;
import org.apache.hadoop.ipc.protobuf.RpcHeaderProtos.RpcSaslProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetClusterMetricsRequestProto;
import org.apache.hadoop.yarn.proto.YarnServiceProtos.GetClusterMetricsResponseProto;

/**
 * Conversations byte by byte, valid and invalid, and the server's reaction: each frame of its answer, and whether it
 * keeps or closes the connection. Both servers receive the same bytes.
 */
final class Conversations {
  private static final int PROBE = 99;
  private static final int SILENCE_MS = 1000; // for an answer that may not come, before the probe
  private static final int PATIENCE_MS = 2500; // twice, with another connection's answer between
  private static final int HANG_MS = 120000;
  private static final byte[] CLIENT_ID = "sixteen bytes id".getBytes(StandardCharsets.US_ASCII);
  private static final String PROTOCOL = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private boolean text; // the answer is no frame
  private int answers = 1; // that are to be expected, before the probe asks whether it goes on

  private Conversations() {
  }

  // ---- Sending ----

  private Conversations bytes(int... values) {
    for (int v : values) {
      out.write(v);
    }
    return this;
  }

  private Conversations ascii(String s) throws IOException {
    out.write(s.getBytes(StandardCharsets.US_ASCII));
    return this;
  }

  private static Conversations begun(int... header) {
    return new Conversations().bytes('h', 'r', 'p', 'c').bytes(header);
  }

  private Conversations answers(int n) {
    answers = n;
    return this;
  }

  private Conversations frame(byte[] payload) throws IOException {
    new DataOutputStream(out).writeInt(payload.length);
    out.write(payload);
    return this;
  }

  private static byte[] delimited(Message... parts) throws IOException {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    for (Message m : parts) {
      m.writeDelimitedTo(b);
    }
    return b.toByteArray();
  }

  private static RpcRequestHeaderProto.Builder header(int call) {
    return RpcRequestHeaderProto.newBuilder().setRpcKind(RpcKindProto.RPC_PROTOCOL_BUFFER)
        .setRpcOp(OperationProto.RPC_FINAL_PACKET).setCallId(call).setRetryCount(-1)
        .setClientId(ByteString.copyFrom(CLIENT_ID));
  }

  private static RequestHeaderProto method(String name, String protocol, long version) {
    return RequestHeaderProto.newBuilder().setMethodName(name).setDeclaringClassProtocolName(protocol)
        .setClientProtocolVersion(version).build();
  }

  private static RequestHeaderProto metrics() {
    return method("getClusterMetrics", PROTOCOL, 1);
  }

  private static Message reply() {
    GetClusterMetricsResponseProto.Builder b = GetClusterMetricsResponseProto.newBuilder();
    b.getClusterMetricsBuilder().setNumNodeManagers(7);
    return Echo.with(GetClusterMetricsRequestProto.getDefaultInstance(), Echo.REPLY, b.build().toByteString());
  }

  private static IpcConnectionContextProto context(String user, String real) {
    UserInformationProto.Builder u = UserInformationProto.newBuilder();
    if (user != null) {
      u.setEffectiveUser(user);
    }
    if (real != null) {
      u.setRealUser(real);
    }
    return IpcConnectionContextProto.newBuilder().setProtocol(PROTOCOL).setUserInfo(u).build();
  }

  private Conversations context() throws IOException {
    return frame(delimited(header(-3).build(), context("gustav", null)));
  }

  private Conversations call(int id) throws IOException {
    return frame(delimited(header(id).build(), metrics(), reply()));
  }

  private Conversations sasl(RpcSaslProto m) throws IOException {
    return frame(delimited(header(-33).build(), m));
  }

  /** A connection that is ready for calls. */
  private static Conversations ready() throws IOException {
    return begun(9, 0, 0).context();
  }

  private static RpcSaslProto initiate(String method, String mechanism) {
    return RpcSaslProto.newBuilder().setState(RpcSaslProto.SaslState.INITIATE).addAuths(
        RpcSaslProto.SaslAuth.newBuilder().setMethod(method).setMechanism(mechanism)).build();
  }

  // ---- Receiving ----

  private static String frame(DataInputStream in, int[] id) throws IOException {
    byte[] b = new byte[in.readInt()];
    in.readFully(b);
    ByteArrayInputStream at = new ByteArrayInputStream(b);
    RpcResponseHeaderProto h = RpcResponseHeaderProto.parseDelimitedFrom(at);
    id[0] = h.getCallId();
    if (h.getCallId() == PROBE && h.getStatus() == RpcResponseHeaderProto.RpcStatusProto.SUCCESS) {
      return "goes on";
    }
    String said = "[" + h.getCallId() + " retry " + (h.hasRetryCount() ? "" + h.getRetryCount() : "-") + " version "
        + (h.hasServerIpcVersionNum() ? "" + h.getServerIpcVersionNum() : "-") + " id "
        + h.getClientId().toStringUtf8() + " " + h.getStatus();
    if (h.hasExceptionClassName() || h.hasErrorDetail()) {
      said += " " + h.getErrorDetail() + " " + h.getExceptionClassName(); // with words of its own
    } else if ((int) h.getCallId() == -33) {
      RpcSaslProto m = RpcSaslProto.parseDelimitedFrom(at);
      said += " " + m.getState();
      for (RpcSaslProto.SaslAuth a : m.getAuthsList()) {
        said += " (" + a.getMethod() + " " + a.getMechanism() + " " + a.getProtocol() + " " + a.getServerId() + ")";
      }
    } else {
      said += " " + at.available() + " more bytes";
    }
    return said + "]";
  }

  /** Returns when the server has answered on a new connection: silence on an older one is then not due to a busy
   *  machine. */
  private static void othersAreAnswered(int port) throws Exception {
    try (Socket s = new Socket("127.0.0.1", port)) {
      s.setSoTimeout(HANG_MS);
      s.getOutputStream().write(ready().call(PROBE).out.toByteArray());
      s.getInputStream().read();
    } catch (SocketException closed) {
      return; // an answer, too
    }
  }

  private String heard(int port) throws Exception {
    List<String> heard = new ArrayList<>();
    try (Socket s = new Socket("127.0.0.1", port)) {
      s.setTcpNoDelay(true);
      s.getOutputStream().write(out.toByteArray());
      if (text) {
        byte[] all = new byte[1024];
        int n = 0;
        s.setSoTimeout(PATIENCE_MS);
        String end = " hangs up";
        for (boolean again = false;;) {
          try {
            for (int got; (got = s.getInputStream().read(all, n, all.length - n)) > 0;) {
              n += got;
            }
            break;
          } catch (SocketTimeoutException silent) {
            if (again) {
              end = " is silent";
              break;
            }
            again = true;
            othersAreAnswered(port);
          }
        }
        return new String(all, 0, n, StandardCharsets.ISO_8859_1).split("\r\n|\n\tat ")[0] + end;
      }
      DataInputStream in = new DataInputStream(s.getInputStream());
      byte[] ask = new Conversations().call(PROBE).out.toByteArray();
      boolean asked = false;
      boolean again = false;
      int[] id = new int[1];
      try {
        while (true) {
          if (!asked && heard.size() >= answers) {
            asked = true;
            s.getOutputStream().write(ask);
          }
          s.setSoTimeout(asked ? PATIENCE_MS : SILENCE_MS);
          try {
            heard.add(frame(in, id));
            if (id[0] == PROBE) {
              break;
            }
          } catch (SocketTimeoutException silent) {
            if (again) {
              heard.add("is silent");
              break;
            }
            othersAreAnswered(port);
            if (asked) {
              again = true;
              continue;
            }
            asked = true;
            s.getOutputStream().write(ask);
          }
        }
      } catch (EOFException | SocketException closed) {
        heard.add("hangs up");
      }
    }
    return String.join(" ", heard);
  }

  // ---- Conversations ----

  private static Map<String, Conversations> simple() throws Exception {
    Map<String, Conversations> c = new LinkedHashMap<>();
    c.put("a connection and nothing else", ready().answers(0));
    c.put("not hrpc", new Conversations().ascii("abcd").bytes(9, 0, 0));
    c.put("version 4", begun(4, 80, 0));
    c.put("version 8", begun(8, 0, 0));
    c.put("version 10", begun(10, 0, 0));
    for (int old : new int[] {4, 8}) {
      c.get("version " + old).text = true;
    }
    c.put("authentication 7", begun(9, 0, 7));
    c.put("HTTP", new Conversations().ascii("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    c.get("HTTP").text = true;
    c.put("a call before the context", begun(9, 0, 0).call(1));
    c.put("two contexts", ready().context());
    c.put("a context without user", begun(9, 0, 0).frame(delimited(header(-3).build(),
        IpcConnectionContextProto.newBuilder().setProtocol(PROTOCOL).build())).answers(0));
    c.put("a context without protocol", begun(9, 0, 0).frame(delimited(header(-3).build(),
        IpcConnectionContextProto.newBuilder().setUserInfo(
            UserInformationProto.newBuilder().setEffectiveUser("gustav")).build())).answers(0));
    c.put("a context for an unknown protocol", begun(9, 0, 0).frame(delimited(header(-3).build(),
        context("gustav", null).toBuilder().setProtocol("org.example.Nowhere").build())).answers(0));
    c.put("ping", ready().frame(delimited(header(-4).setClientId(ByteString.EMPTY).build())).answers(0));
    c.put("call id -7", ready().frame(delimited(header(-7).build(), metrics(), reply())));
    c.put("the last call id", ready().call(Integer.MAX_VALUE));
    c.put("retry 3 of another client", ready().frame(delimited(
        header(5).setRetryCount(3).setClientId(ByteString.copyFromUtf8("other")).build(), metrics(), reply())));
    c.put("no retry count", ready().frame(delimited(header(5).clearRetryCount().build(), metrics(), reply())));
    c.put("an empty client id", ready().frame(delimited(
        header(5).setClientId(ByteString.EMPTY).build(), metrics(), reply())));
    c.put("no kind", ready().frame(delimited(header(5).clearRpcKind().build(), metrics(), reply())));
    c.put("kind WRITABLE", ready().frame(delimited(
        header(5).setRpcKind(RpcKindProto.RPC_WRITABLE).build(), metrics(), reply())));
    c.put("kind BUILTIN", ready().frame(delimited(
        header(5).setRpcKind(RpcKindProto.RPC_BUILTIN).build(), metrics(), reply())));
    c.put("no operation", ready().frame(delimited(header(5).clearRpcOp().build(), metrics(), reply())));
    c.put("operation CONTINUATION", ready().frame(delimited(
        header(5).setRpcOp(OperationProto.RPC_CONTINUATION_PACKET).build(), metrics(), reply())));
    c.put("operation CLOSE", ready().frame(delimited(
        header(5).setRpcOp(OperationProto.RPC_CLOSE_CONNECTION).build())));
    c.put("unknown method", ready().frame(delimited(header(5).build(), method("notThere", PROTOCOL, 1), reply())));
    c.put("unknown protocol", ready().frame(delimited(
        header(5).build(), method("getClusterMetrics", "org.example.Nowhere", 1), reply())));
    c.put("version 2 of a protocol", ready().frame(delimited(
        header(5).build(), method("getClusterMetrics", PROTOCOL, 2), reply())));
    c.put("version 0 of a protocol", ready().frame(delimited(
        header(5).build(), method("getClusterMetrics", PROTOCOL, 0), reply())));
    byte[] good = delimited(header(5).build(), metrics(), reply());
    byte[] head = delimited(header(5).build(), metrics());
    c.put("a request that is cut", ready().frame(java.util.Arrays.copyOf(good, good.length - 3)));
    c.put("a request that is not there", ready().frame(head));
    c.put("a request that is garbage", ready().frame(join(head, new byte[] {3, (byte) 0xff, (byte) 0xff, (byte) 0xff})));
    c.put("a request without a required field", ready().frame(join(
        delimited(header(5).build(), method("getQueueInfo", PROTOCOL, 1)), new byte[] {2, 0x0a, 0x7f})));
    c.put("a call without method", ready().frame(delimited(header(5).build())).answers(0));
    c.put("a call whose method is garbage", ready().frame(join(delimited(header(5).build()),
        new byte[] {3, (byte) 0xff, (byte) 0xff, (byte) 0xff})).answers(0));
    c.put("a header that is garbage", ready().frame(new byte[] {3, (byte) 0xff, (byte) 0xff, (byte) 0xff}));
    c.put("a header that is cut", ready().frame(new byte[] {100, 1, 2}));
    c.put("bytes behind the request", ready().frame(join(good, new byte[] {1, 2, 3})));
    c.put("an empty frame", ready().frame(new byte[0]));
    c.put("a frame of -5 bytes", ready().bytes(0xff, 0xff, 0xff, 0xfb));
    c.put("a frame of 2 GiB", ready().bytes(0x7f, 0xff, 0xff, 0xff));
    c.put("SASL on a connection that is ready", ready().sasl(initiate("SIMPLE", "")));
    c.put("SASL NEGOTIATE where nothing is asked for", begun(9, 0, 0xdf).sasl(
        RpcSaslProto.newBuilder().setState(RpcSaslProto.SaslState.NEGOTIATE).build()));
    c.put("SASL INITIATE SIMPLE", begun(9, 0, 0xdf).sasl(initiate("SIMPLE", "")));
    c.put("SASL INITIATE TOKEN where there are none", begun(9, 0, 0xdf).sasl(initiate("TOKEN", "DIGEST-MD5")));
    return c;
  }

  private static Map<String, Conversations> token() throws Exception {
    RpcSaslProto negotiate = RpcSaslProto.newBuilder().setState(RpcSaslProto.SaslState.NEGOTIATE).build();
    Map<String, Conversations> c = new LinkedHashMap<>();
    c.put("SIMPLE where tokens are wanted", begun(9, 0, 0).context());
    c.put("SASL NEGOTIATE", begun(9, 0, 0xdf).sasl(negotiate));
    c.put("SASL NEGOTIATE, then KERBEROS", begun(9, 0, 0xdf).sasl(negotiate)
        .sasl(initiate("KERBEROS", "GSSAPI")).answers(2));
    c.put("SASL NEGOTIATE twice", begun(9, 0, 0xdf).sasl(negotiate).sasl(negotiate).answers(2));
    c.put("SASL INITIATE SIMPLE where tokens are wanted", begun(9, 0, 0xdf).sasl(initiate("SIMPLE", "")));
    c.put("SASL INITIATE KERBEROS", begun(9, 0, 0xdf).sasl(initiate("KERBEROS", "GSSAPI")));
    c.put("SASL INITIATE with two ways", begun(9, 0, 0xdf).sasl(initiate("TOKEN", "DIGEST-MD5").toBuilder()
        .addAuths(RpcSaslProto.SaslAuth.newBuilder().setMethod("SIMPLE").setMechanism("")).build()));
    c.put("SASL RESPONSE without a challenge", begun(9, 0, 0xdf).sasl(RpcSaslProto.newBuilder()
        .setState(RpcSaslProto.SaslState.RESPONSE).setToken(ByteString.copyFromUtf8("x")).build()));
    c.put("SASL SUCCESS by the client", begun(9, 0, 0xdf).sasl(RpcSaslProto.newBuilder()
        .setState(RpcSaslProto.SaslState.SUCCESS).build()));
    c.put("SASL RESPONSE that is garbage", begun(9, 0, 0xdf).sasl(negotiate).sasl(RpcSaslProto.newBuilder()
        .setState(RpcSaslProto.SaslState.RESPONSE).setToken(ByteString.copyFromUtf8("x=\"")).build()).answers(2));
    c.put("a context in the middle of SASL", begun(9, 0, 0xdf).sasl(negotiate).context().answers(2));
    c.put("a call in the middle of SASL", begun(9, 0, 0xdf).sasl(negotiate).call(1).answers(2));
    return c;
  }

  /** A server that accepts SIMPLE and TOKEN. */
  private static Map<String, Conversations> both() throws Exception {
    RpcSaslProto negotiate = RpcSaslProto.newBuilder().setState(RpcSaslProto.SaslState.NEGOTIATE).build();
    Map<String, Conversations> c = new LinkedHashMap<>();
    c.put("SIMPLE of both", begun(9, 0, 0).context().answers(0));
    c.put("SASL NEGOTIATE of both", begun(9, 0, 0xdf).sasl(negotiate));
    c.put("SASL NEGOTIATE, then SIMPLE, of both", begun(9, 0, 0xdf).sasl(negotiate).sasl(initiate("SIMPLE", ""))
        .context());
    c.put("SASL INITIATE SIMPLE of both", begun(9, 0, 0xdf).sasl(initiate("SIMPLE", "")).context().answers(0));
    c.put("SASL INITIATE KERBEROS of both", begun(9, 0, 0xdf).sasl(initiate("KERBEROS", "GSSAPI")));
    c.put("SASL NEGOTIATE, then KERBEROS, of both", begun(9, 0, 0xdf).sasl(negotiate)
        .sasl(initiate("KERBEROS", "GSSAPI")).answers(2));
    return c;
  }

  /** A call that is answered after three have arrived. */
  private Conversations batch(int id) throws IOException {
    return frame(delimited(header(id).build(), metrics(), Echo.with(reply(), Echo.BATCH, Echo.varint(3))));
  }

  private static byte[] join(byte[] a, byte[] b) {
    byte[] c = java.util.Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, c, a.length, b.length);
    return c;
  }

  /** Three calls in one write; the last is answered first. */
  static String backwards(int port) throws Exception {
    return ready().batch(5).batch(6).batch(7).answers(3).heard(port);
  }

  static Map<String, String> all(int[] ports) throws Exception {
    Map<String, String> out = new LinkedHashMap<>();
    for (Map.Entry<String, Conversations> e : simple().entrySet()) {
      out.put(e.getKey(), e.getValue().heard(ports[0]));
    }
    for (Map.Entry<String, Conversations> e : token().entrySet()) {
      out.put(e.getKey(), e.getValue().heard(ports[2]));
    }
    for (Map.Entry<String, Conversations> e : both().entrySet()) {
      out.put(e.getKey(), e.getValue().heard(ports[4]));
    }
    Conversations large = ready().frame(new byte[Echo.SMALL_FRAME + 1]);
    out.put("a frame above ipc.maximum.data.length", large.heard(ports[3]));
    return out;
  }
}
