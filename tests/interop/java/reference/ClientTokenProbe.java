import java.net.InetSocketAddress;
import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.v2.api.MRClientProtocol;
import org.apache.hadoop.mapreduce.v2.api.protocolrecords.GetJobReportRequest;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.security.client.ClientToAMTokenIdentifier;
import org.apache.hadoop.yarn.security.client.ClientToAMTokenSecretManager;
import org.apache.hadoop.yarn.util.ConverterUtils;
import org.apache.hadoop.yarn.util.Records;

/**
 * Calls the ApplicationMaster of a running MapReduce job with its client token and with forged ones, and prints
 * "CASE TAB ok" or the exception. Driven by tests/interop/cases/secure_client_tokens.py.
 *
 * ClientTokenProbe APPLICATION OTHER-APPLICATION
 */
public final class ClientTokenProbe {
  private final Configuration conf = new JobConf();
  private final ApplicationReport job;
  private final InetSocketAddress address;

  private ClientTokenProbe(ApplicationReport job) {
    this.job = job;
    address = NetUtils.createSocketAddrForHost(job.getHost(), job.getRpcPort());
    conf.setInt("ipc.client.connect.max.retries", 0);
    conf.setInt("ipc.client.connect.max.retries.on.sasl", 0);
  }

  private Token<ClientToAMTokenIdentifier> tokenOf(ApplicationReport from) {
    return ConverterUtils.convertFromYarn(from.getClientToAMToken(), address);
  }

  /** The identifier of one, the password of another one. */
  private Token<TokenIdentifier> mixed(Token<?> id, Token<?> password) {
    return new Token<>(id.getIdentifier(), password.getPassword(), id.getKind(), id.getService());
  }

  private Token<?> made(ApplicationAttemptId attempt, String user) {
    ClientToAMTokenSecretManager keys = new ClientToAMTokenSecretManager(attempt, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
    Token<ClientToAMTokenIdentifier> token = new Token<>(new ClientToAMTokenIdentifier(attempt, user), keys);
    token.setService(tokenOf(job).getService());
    return token;
  }

  private void call(String name, Token<?> token) throws Exception {
    UserGroupInformation caller = UserGroupInformation.createRemoteUser("caller of " + name);
    if (token != null) {
      caller.addToken(token);
    }
    String said = caller.doAs((PrivilegedExceptionAction<String>) () -> {
      try {
        YarnRPC rpc = YarnRPC.create(conf);
        MRClientProtocol master = (MRClientProtocol) rpc.getProxy(MRClientProtocol.class, address, conf);
        GetJobReportRequest request = Records.newRecord(GetJobReportRequest.class);
        request.setJobId(TypeConverter.toYarn(TypeConverter.fromYarn(job.getApplicationId())));
        return master.getJobReport(request).getJobReport() == null ? "nothing" : "ok";
      } catch (Exception e) {
        return e.toString().replaceAll("\\s+", " ");
      }
    });
    System.out.println(name + "\t" + said);
  }

  public static void main(String[] args) throws Exception {
    YarnClient yarn = YarnClient.createYarnClient();
    yarn.init(new JobConf());
    yarn.start();
    ApplicationReport report = yarn.getApplicationReport(ApplicationId.fromString(args[0]));
    ApplicationReport other = yarn.getApplicationReport(ApplicationId.fromString(args[1]));
    ClientTokenProbe p = new ClientTokenProbe(report);
    ApplicationAttemptId attempt = report.getCurrentApplicationAttemptId();
    Token<?> good = p.tokenOf(report);
    p.call("good", good);
    p.call("none", null);
    p.call("another key", p.made(attempt, report.getUser()));
    p.call("another attempt's", p.tokenOf(other));
    p.call("another attempt's key", p.mixed(good, p.tokenOf(other)));
    p.call("another user's name", p.mixed(p.made(attempt, "mallory"), good));
    p.call("a later attempt", p.mixed(p.made(ApplicationAttemptId.newInstance(report.getApplicationId(), 2),
        report.getUser()), good));
    p.call("good again", good);
    yarn.stop();
  }
}
