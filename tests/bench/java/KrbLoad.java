// Hadoop's side of `make bench-krb`: its IPC client with Kerberos at a ResourceManager, with the configuration of its class
// path. Logs in from the keytab, then takes a command a line: "connections N", each with a handshake and one call, or
// "calls N" on one connection. Answered by a line of JSON: seconds and this process's processor time. Its twin is
// tests/bench/krb-load.c.
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.Locale;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.impl.pb.client.ApplicationClientProtocolPBClientImpl;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

public final class KrbLoad {
  private static final GetClusterMetricsRequest REQUEST = GetClusterMetricsRequest.newInstance();
  private final YarnConfiguration conf = new YarnConfiguration();
  private final InetSocketAddress address;
  private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private KrbLoad(String keytab, String principal) throws Exception {
    address = conf.getSocketAddr(YarnConfiguration.RM_ADDRESS, YarnConfiguration.DEFAULT_RM_ADDRESS, YarnConfiguration.DEFAULT_RM_PORT);
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation.loginUserFromKeytab(principal, keytab);
  }

  /** The client of the process ends with its last proxy, and with it the connection. */
  private void connections(int n) throws Exception {
    for (int i = 0; i < n; i++) {
      calls(1);
    }
  }

  private void calls(int n) throws Exception {
    try (ApplicationClientProtocolPBClientImpl rm = new ApplicationClientProtocolPBClientImpl(1, address, conf)) {
      for (int i = 0; i < n; i++) {
        rm.getClusterMetrics(REQUEST);
      }
    }
  }

  private String run(String[] words) throws Exception {
    int n = Integer.parseInt(words[1]);
    long start = System.nanoTime();
    long cpu = process.getProcessCpuTime();
    if (words[0].equals("calls")) {
      calls(n);
    } else {
      connections(n);
    }
    return String.format(Locale.ROOT, "{\"n\": %d, \"seconds\": %.4f, \"cpu\": %.4f}", n, (System.nanoTime() - start) / 1e9,
        (process.getProcessCpuTime() - cpu) / 1e9);
  }

  public static void main(String[] args) throws Exception {
    KrbLoad load = new KrbLoad(args[0], args[1]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(load.run(line.split(" ")));
    }
    System.exit(0);
  }
}
