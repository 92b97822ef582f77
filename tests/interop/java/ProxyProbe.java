import java.security.PrivilegedExceptionAction;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.util.Records;

/**
 * Submits an application in the name of another user (hadoop.proxyuser.*), as Hive and Oozie do. Prints "REAL for USER TAB
 * result" a line: the owner in the application's report, or the exception at the bottom with its message.
 *
 * <p>Usage: ProxyProbe REAL:USER...
 */
public final class ProxyProbe {
    private static String submit(Configuration conf) throws Exception {
        YarnClient yarn = YarnClient.createYarnClient();
        yarn.init(conf);
        yarn.start();
        try {
            ApplicationSubmissionContext c = yarn.createApplication().getApplicationSubmissionContext();
            c.setApplicationName("in another's name");
            c.setUnmanagedAM(true);
            c.setQueue("default");
            c.setResource(Resource.newInstance(64, 1));
            c.setAMContainerSpec(Records.newRecord(ContainerLaunchContext.class));
            yarn.submitApplication(c);
            String owner = yarn.getApplicationReport(c.getApplicationId()).getUser();
            yarn.killApplication(c.getApplicationId());
            return "owner " + owner;
        } finally {
            yarn.stop();
        }
    }

    public static void main(String[] args) {
        Configuration conf = new YarnConfiguration();
        for (String pair : args) {
            String[] names = pair.split(":");
            UserGroupInformation user =
                UserGroupInformation.createProxyUser(names[1], UserGroupInformation.createRemoteUser(names[0]));
            String result;
            try {
                result = user.doAs((PrivilegedExceptionAction<String>) () -> submit(conf));
            } catch (Exception e) {
                Throwable t = e;
                while (t.getCause() != null) {
                    t = t.getCause();
                }
                result = t.getClass().getName() + ": " + String.valueOf(t.getMessage()).split("\n")[0];
            }
            System.out.println(names[0] + " for " + names[1] + "\t" + result);
        }
    }
}
