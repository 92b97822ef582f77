import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authentication.util.KerberosName;
import org.apache.hadoop.security.authorize.AuthorizationException;
import org.apache.hadoop.security.authorize.PolicyProvider;
import org.apache.hadoop.security.authorize.ServiceAuthorizationManager;
import org.apache.hadoop.yarn.server.nodemanager.security.authorize.NMPolicyProvider;
import org.apache.hadoop.yarn.server.resourcemanager.security.authorize.RMPolicyProvider;

/**
 * Hadoop's answers to the rows of tests/golden/auth-to-local and tests/golden/service-policy, whose
 * comments describe them: a line for each row of kind P or D, "!" where KerberosName throws, "ok" where
 * ServiceAuthorizationManager does not.
 *
 * <p>Usage: SecurityAnswers names|policy FILE, with -Djava.security.krb5.realm=EXAMPLE.COM.
 */
public final class SecurityAnswers {
    private SecurityAnswers() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        List<String> lines = Files.readAllLines(Paths.get(args[1]), StandardCharsets.UTF_8);
        if (args[0].equals("names")) {
            names(lines, out);
        } else {
            policy(lines, out);
        }
    }

    private static void names(List<String> lines, PrintStream out) {
        for (String line : lines) {
            String[] fields = line.split("\t", -1);
            if (line.startsWith("#")) {
                continue;
            }
            if (fields[0].equals("S")) {
                KerberosName.setRuleMechanism(fields[1]);
                KerberosName.setRules(fields[2]);
                continue;
            }
            String name;
            try {
                name = new KerberosName(fields[1]).getShortName();
            } catch (Exception e) {
                name = "!";
            }
            out.println(name.isEmpty() ? "(empty)" : name);
        }
    }

    private static void policy(List<String> lines, PrintStream out) throws Exception {
        ServiceAuthorizationManager manager = null;
        Configuration conf = null;
        for (String line : lines) {
            String[] fields = line.split("\t", -1);
            if (line.startsWith("#")) {
                continue;
            }
            if (fields[0].equals("S")) {
                conf = new Configuration(false);
                for (int i = 2; i < fields.length; i++) {
                    int at = fields[i].indexOf('=');
                    conf.set(fields[i].substring(0, at), fields[i].substring(at + 1));
                }
                PolicyProvider provider = fields[1].equals("nm") ? NMPolicyProvider.getInstance()
                        : RMPolicyProvider.getInstance();
                manager = new ServiceAuthorizationManager();
                manager.refreshWithLoadedConfiguration(conf, provider);
                continue;
            }
            String[] groups = fields[2].isEmpty() ? new String[0] : fields[2].split(",");
            UserGroupInformation user = UserGroupInformation.createUserForTesting(fields[1], groups);
            try {
                manager.authorize(user, Class.forName(fields[4]), conf, InetAddress.getByName(fields[3]));
                out.println("ok");
            } catch (AuthorizationException e) {
                out.println(e.getMessage());
            }
        }
    }
}
