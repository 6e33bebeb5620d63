# ruff: noqa: E501 (a template is one line)
r"""Files that hold secrets, as agents read and print them. `@F{form}` is a secret in a form of `secret_forms`.

All that `@F` draws must disappear. `@M{n}` is a mnemonic of n words, `@D{n}` are n lines of base64, as in a key.
"""

FILES = r"""
aws-credentials     [default]\naws_access_key_id = AKIA@F{{k16}}\naws_secret_access_key = @F{{b40}}\nregion = eu-west-1\n
aws-session         export AWS_SECRET_ACCESS_KEY=@F{{b40}}\nexport AWS_SESSION_TOKEN=@F{IQoJb3JpZ2luX2Vj{b300}}
aws-json            {"AccessKeyId":"ASIA7EXAMPLE","SecretAccessKey":"@F{{b40}}","SessionToken":"@F{FwoGZXIvYXdzE{b300}}"}
aws-configure       $ aws configure\nAWS Access Key ID [None]: AKIA@F{{k16}}\nAWS Secret Access Key [None]: @F{{b40}}\n
boto                boto3.client("s3", aws_access_key_id="AKIA@F{{k16}}", aws_secret_access_key="@F{{b40}}")
s3cfg               access_key = AKIA@F{{k16}}\nsecret_key = @F{{b40}}\n
rclone              [s3]\ntype = s3\naccess_key_id = PQ7\nsecret_access_key = @F{{b40}}\n
gcp-service         {"type":"service_account","private_key_id":"0c747d1e","private_key":"-----BEGIN PRIVATE KEY-----\\n@J{8}\\n-----END PRIVATE KEY-----\\n"}
gcp-adc             {"client_id":"7.apps.googleusercontent.com","client_secret":"@F{GOCSPX-{w28}}","refresh_token":"@F{1//0{w60}}","type":"authorized_user"}
azure-sp            {"appId":"5f1","displayName":"ci","password":"@F{{a3}8Q~{w34}}","tenant":"7a1"}
azure-connection    DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=@F{{b86}==};EndpointSuffix=core.windows.net
azure-servicebus    Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@F{{b43}=}
azure-sas           https://acme.blob.core.windows.net/c/a?sv=2022-11-02&se=2030-01-01&sr=c&sp=r&sig=@F{{a43}%3D}
aws-presigned       https://acme.s3.amazonaws.com/a?X-Amz-Credential=AKIA@F{{k16}}%2F20260101&X-Amz-Signature=@F{{h64}}
gcs-signed          https://storage.googleapis.com/b/o?GoogleAccessId=a@b.iam&Expires=1700000000&Signature=@F{{a120}%2B{a40}%3D%3D}
cosmos              AccountEndpoint=https://a.documents.azure.com:443/;AccountKey=@F{{b86}==};
kubeconfig-token    users:\n- name: ci\n  user:\n    token: @F{{l6}{l16}{w60}}\n
kubeconfig-key      users:\n- name: ci\n  user:\n    client-key-data: @F{LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQp{b400}=}\n
docker-config       {"auths": {"https://index.docker.io/v1/": {"auth": "@E"}}}
dockerconfigjson    kind: Secret\ntype: kubernetes.io/dockerconfigjson\ndata:\n  .dockerconfigjson: @F{eyJhdXRocyI6eyJ{b120}=}\n
npmrc               //registry.npmjs.org/:_authToken=@F{npm_{a36}}\n
npmrc-auth          //npm.acme.dev/:_auth=@E\n
npmrc-password      //npm.acme.dev/:_password=@F{{b28}==}\n
yarnrc              npmAuthToken: "@F{{g}}"
pypirc              [pypi]\nusername = __token__\npassword = @F{pypi-AgEIcHlwaS5vcmc{w150}}\n
gem-credentials     ---\n:rubygems_api_key: @F{rubygems_{h48}}\n
cargo-credentials   [registry]\ntoken = "@F{cio{a32}}"\n
gradle              ossrhUsername=jane\nossrhPassword=@F{{a14}}\nsigning.password=@F{{a16}}\n
nuget-config        <packageSourceCredentials><acme><add key="Username" value="j" /><add key="ClearTextPassword" value="@F{{a20}}" /></acme></packageSourceCredentials>
shadow              root:@F{$6${s16}${s86}}:19700:0:99999:7:::\ndaemon:*:19700:0:99999:7:::\n
shadow-yescrypt     jane:@F{$y$j9T${s22}${s43}}:19700:0:99999:7:::
htpasswd            jane:@F{$apr1${s8}${s22}}\nbob:@F{$2y$05${s53}}\n
htpasswd-sha        jane:{SHA}@F{{b27}=}\n
ntlm                Administrator:500:aad3b435b51404eeaad3b435b51404ee:@F{{h32}}:::
wireguard           [Interface]\nPrivateKey = @F{{b43}=}\nAddress = 10.0.0.2/32\n[Peer]\nPresharedKey = @F{{b43}=}\n
wg-genkey           $ wg genkey\n@F{{b43}=}\n
openvpn-static      -----BEGIN OpenVPN Static key V1-----\n@X{16}\n-----END OpenVPN Static key V1-----
pem-rsa             -----BEGIN RSA PRIVATE KEY-----\n@D{12}\n-----END RSA PRIVATE KEY-----
pem-ec              -----BEGIN EC PRIVATE KEY-----\n@D{3}\n-----END EC PRIVATE KEY-----
pem-pkcs8           -----BEGIN ENCRYPTED PRIVATE KEY-----\n@D{14}\n-----END ENCRYPTED PRIVATE KEY-----
pem-openssh         -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n@D{6}\n-----END OPENSSH PRIVATE KEY-----
pem-pgp             -----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n@D{20}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----
pem-ed25519-short   -----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEI@F{{b43}}\n-----END PRIVATE KEY-----
pem-no-first        @D{10}\n-----END RSA PRIVATE KEY-----
pem-no-last         -----BEGIN RSA PRIVATE KEY-----\n@D{10}\n
pem-one-line        PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\\n@J{8}\\n-----END PRIVATE KEY-----\\n"
pem-yaml            key: |\n  -----BEGIN EC PRIVATE KEY-----\n  @I{4}\n  -----END EC PRIVATE KEY-----\n
pem-spaces          KEY="-----BEGIN RSA PRIVATE KEY----- @O{8} -----END RSA PRIVATE KEY-----"
putty               PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n@F{{b47}=}\nPrivate-MAC: 3fa8
openssh-body        ssh key: b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAA@F{{b200}}==
pkcs12              keystore.b64: MIIKWQIBAzCCCh8GCSqGSIb3DQEHAaCC@F{{b300}}==
ansible-vault       $ANSIBLE_VAULT;1.1;AES256\n@X{12}\n
ansible-vault-yaml  db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  @Z{6}\n
fernet              cipher = Fernet(b'@F{{w43}=}')
fernet-name         FERNET_KEY=@F{{w43}=}
django              SECRET_KEY = 'django-insecure-@F{{l40}}'
django-key          SECRET_KEY = "@F{{l20}#_+{l25}}"
rails-master        config/master.key\n@F{{h32}}
rails-key           RAILS_MASTER_KEY=@F{{h32}}
rails-base          secret_key_base: @F{{h128}}
laravel             APP_KEY=base64:@F{{b43}=}
flask               app.secret_key = b'@F{_5#y2L{a12}}'
flask-config        app.config['SECRET_KEY'] = '@F{{a24}}'
nextauth            NEXTAUTH_SECRET=@F{{b43}=}
wordpress           define('AUTH_KEY', '@F{{a20}}|#{{a20}}');
wordpress-salt      define( 'NONCE_SALT',       '@F{{a40}}' );
jwt-secret          JWT_SECRET=@F{{c32}}
symfony             APP_SECRET=@F{{h32}}
phoenix             secret_key_base: "@F{{b64}}"
vault-init          Unseal Key 1: @F{{b44}}\nUnseal Key 2: @F{{b44}}\nInitial Root Token: @F{hvs.{a24}}\n
vault-token         VAULT_TOKEN=@F{s.{a24}}
consul              CONSUL_HTTP_TOKEN=@F{{g}}
nomad               Secret ID    = @F{{g}}
terraform-cloud     credentials "app.terraform.io" {\n  token = "@F{{a14}.atlasv1.{w67}}"\n}
terraform-state     {"type":"random_password","instances":[{"attributes":{"result":"@F{{a20}}","length":20}}]}
circle-yaml         environment:\n  DEPLOY_KEY: @F{{a32}}\n
mnemonic-env        MNEMONIC="@M{12}"
mnemonic-long       mnemonic: @M{24}
mnemonic-sentence   My seed phrase is: @M{12}
mnemonic-recovery   Recovery phrase:\n@M{12}\n
mnemonic-js         const wallet = ethers.Wallet.fromMnemonic("@M{12}")
mnemonic-json       {"seed_phrase": "@M{15}"}
mnemonic-alone      wallet words\n@M{12}\n
hardhat             accounts: ["0x@F{{h64}}"]
ethers              new ethers.Wallet("0x@F{{h64}}", provider)
cookie-session      Cookie: theme=dark; session=@F{{a40}}; lang=en
cookie-set          Set-Cookie: sid=@F{{h32}}; Path=/; HttpOnly
cookie-django       Cookie: csrftoken=@F{{a32}}; sessionid=@F{{l32}}
cookie-php          Cookie: PHPSESSID=@F{{l26}}
cookie-connect      Set-Cookie: connect.sid=s%3A@F{{w32}.{a43}}; Path=/
cookie-gitlab       Cookie: _gitlab_session=@F{{h32}}
cookie-github       Cookie: user_session=@F{{w48}}; logged_in=yes
cookie-next         Cookie: __Secure-next-auth.session-token=@F{{w60}}
cookie-netscape     .acme.dev\tTRUE\t/\tTRUE\t1900000000\tsession\t@F{{h40}}
curl-cookie         curl -b 'sessionid=@F{{l32}}' https://acme.dev
playwright-state    {"cookies":[{"name":"session","value":"@F{{a40}}","domain":"acme.dev"}]}
basic-header        Authorization: Basic @E
bearer-header       Authorization: Bearer @F{{a40}}
bearer-lower        -H "authorization: Bearer @F{{w43}}"
token-header        Authorization: token @F{{h40}}
apikey-header       apikey: @F{{a32}}
proxy-header        Proxy-Authorization: Basic @E
x-auth              X-Auth-Token: @F{{h32}}
x-vault             X-Vault-Token: @F{s.{a24}}
private-token       PRIVATE-TOKEN: @F{{a20}}
x-goog              x-goog-api-key: @F{AIza{w35}}
sigv4               Authorization: AWS4-HMAC-SHA256 Credential=AKIA@F{{k16}}/20260101/eu-west-1/s3/aws4_request, Signature=@F{{h64}}
digest-header       Authorization: Digest username="jane", realm="a", nonce="b", response="@F{{h32}}"
oauth1              Authorization: OAuth oauth_consumer_key="@F{{a25}}", oauth_token="@F{{d10}-{a40}}", oauth_signature="@F{{a27}%3D}"
oauth-code          https://app.acme.dev/callback?code=@F{{a40}}&state=abc
oauth-response      {"access_token":"@F{{w60}}","token_type":"Bearer","expires_in":3600,"refresh_token":"@F{{w60}}"}
oauth-fragment      https://app.acme.dev/#access_token=@F{{w60}}&token_type=Bearer
id-token            id_token=@F{eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOi{w80}.{w86}}
saml                SAMLResponse=@F{PHNhbWxwOlJlc3BvbnNl{b200}}
reset-link          https://acme.dev/reset-password?token=@F{{w43}}
magic-link          https://acme.dev/login/verify?magic=1&token=@F{{h64}}
appid               https://api.openweathermap.org/data/2.5/weather?q=Bern&appid=@F{{h32}}
query-key           https://maps.acme.dev/api?key=@F{{a39}}
query-sig           https://acme.dev/f?expires=1700000000&signature=@F{{h64}}
wandb-login         wandb login @F{{h40}}
wandb-netrc         machine api.wandb.ai\n  login user\n  password @F{{h40}}
hf-login            huggingface-cli login --token @F{hf_{c34}}
gcloud-token        $ gcloud auth print-access-token\n@F{ya29.a0{w160}}
gh-token            $ gh auth token\n@F{gho_{a36}}
gh-hosts            github.com:\n    oauth_token: @F{gho_{a36}}\n    user: jane
git-credentials     https://jane:@F{ghp_{a36}}@github.com
git-remote          origin https://x-access-token:@F{ghs_{a36}}@github.com/acme/web.git (fetch)
git-extraheader     http.https://github.com/.extraheader=AUTHORIZATION: basic @E
git-oauth2          https://oauth2:@F{glpat-{w20}}@gitlab.com/acme/web.git
stripe-login        Your new API key is @F{sk_test_{a24}}
msmtp               account default\nhost smtp.acme.dev\nuser jane\npassword @F{{a14}}
esmtp               AUTH PLAIN @F{AGphbmVAYWNtZS5kZXYA{b24}}
ldap-bind           bindpw @F{{a16}}
sssd                ldap_default_authtok = @F{{a16}}
snmpd               createUser jane SHA @F{{a12}} AES @F{{a12}}
radius              client 10.0.0.0/8 { secret = @F{{a16}} }
ipsec-psk           10.0.0.1 10.0.0.2 : PSK "@F{{a24}}"
redis-conf          requirepass @F{{a24}}
redis-auth          127.0.0.1:6379> AUTH @F{{a24}}
mqtt                MQTT_PASS=@F{{a14}}
grafana-ini         admin_password = @F{{a14}}
jenkins-cred        <secret>{@F{AQAAABAAAAA{b60}=}}</secret>
jenkins-crumb       curl -u jane:@F{{h34}} https://ci.acme.dev/job/web/build
tomcat              <user username="admin" password="@F{{a14}}" roles="manager-gui"/>
web-config          <add name="Db" connectionString="Server=db;User Id=sa;Password=@F{{a14}};" />
appsettings         {"ConnectionStrings":{"Default":"Server=db;Database=a;User Id=sa;Password=@F{{a14}};TrustServerCertificate=True"}}
spring-yaml         spring:\n  datasource:\n    url: jdbc:mysql://db/shop\n    password: @F{{a14}}
knexfile            connection: { host: 'db', user: 'sa', password: '@F{{a14}}', database: 'a' }
prisma              DATABASE_URL="postgresql://jane:@F{{a16}}@db:5432/shop?schema=public"
supabase-url        postgres://postgres.abc:@F{{a16}}@aws-0-eu-central-1.pooler.supabase.com:6543/postgres
sentry-dsn          SENTRY_DSN=https://@F{{h32}}@o123.ingest.sentry.io/456
cloudinary          CLOUDINARY_URL=cloudinary://123456789012345:@F{{w27}}@acme
firebase            {"apiKey":"@F{AIza{w35}}","authDomain":"a.firebaseapp.com"}
twilio-pair         TWILIO_ACCOUNT_SID=AC0\nTWILIO_AUTH_TOKEN=@F{{h32}}\n
telegram-url        https://api.telegram.org/bot@F{{d10}:AA{w33}}/sendMessage
two-factor          otpauth://totp/Acme:jane?secret=@F{{k32}}&issuer=Acme
totp-secret         TOTP_SECRET=@F{{k16}}
backup-codes        recovery code: @F{{l5}-{l5}}
homebridge          "pin": "031-45-154", "password": "@F{{a12}}"
mac-keychain        security add-generic-password -a jane -s acme -w @F{{a16}}
op-read             $ op read op://dev/db/password\n@F{{a24}}
pass-show           $ pass show acme/db\n@F{{a20}}
aws-secretsmanager  {"Name":"db","SecretString":"{\\"username\\":\\"jane\\",\\"password\\":\\"@F{{a20}}\\"}"}
ssm-get             {"Parameter":{"Name":"/prod/db/password","Type":"SecureString","Value":"@F{{a20}}"}}
kubectl-decode      $ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d\n@F{{a20}}
argocd              $ argocd admin initial-password -n argocd\n@F{{a16}}
env-json-list       [{"name":"API_TOKEN","value":"@F{{a32}}"}]
ecs-task            "environment":[{"name":"DB_PASSWORD","value":"@F{{a16}}"}]
export-ps           PS> $env:GITHUB_TOKEN='@F{ghp_{a36}}'
systemd             Environment="API_KEY=@F{{a32}}"
process-list        jane 4711 python app.py --api-key=@F{{a32}} --port 80
java-arg            java -Dspring.datasource.password=@F{{a14}} -jar app.jar
phpinfo             $_SERVER['API_SECRET'] => @F{{a24}}
traceback           File "a.py", line 3\n    api_key = '@F{{a32}}'\nAuthError: bad key
"""
