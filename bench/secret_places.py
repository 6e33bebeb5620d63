r"""Places in which secrets turn up: one template a line, `\n` for a line break, `\e` for the escape character.

`@S` is the secret and `@N` its name in upper snake case, `@n` in lower snake case, `@k` in kebab case, `@c` in camel
case. `@P` is the secret percent-encoded. `@L` and `@R` are its two halves. `@U` is a user's name.
"""

NAMED = r"""
env                 DATABASE_HOST=db.internal\n@N=@S\nLOG_LEVEL=debug\n
env-quoted          @N="@S"\n
env-export          export @N='@S'
env-comment         @N=@S  # rotated in May
env-dump            HOME=/home/@U\nSHELL=/bin/zsh\n@N=@S\nTERM=xterm-256color
env-docker          docker run -e @N=@S -p 8080:8080 acme/web:2
env-inline          @N=@S ./manage.py migrate
env-spaces          @N = @S
dockerfile          FROM python:3.12\nENV @N @S\nRUN make
dockerfile-arg      ARG @N=@S
compose             services:\n  web:\n    environment:\n      @N: @S\n
compose-list        environment:\n  - @N=@S\n
json                {"@n": "@S", "debug": false}
json-camel          {\n  "region": "eu-west-1",\n  "@c": "@S"\n}
json-escaped        "{\\"@n\\":\\"@S\\"}"
json-twice          "\"{\\\"@n\\\":\\\"@S\\\"}\""
python-dict         config = {'@n': '@S', 'timeout': 30}
python              @n = "@S"
python-kwarg        client = Client(@n="@S", timeout=10)
python-environ      os.environ["@N"] = "@S"
python-default      os.environ.get("@N", "@S")
js                  const @c = '@S';
js-object           module.exports = { @c: '@S' }
js-fallback         const key = process.env.@N || '@S'
typescript          private readonly @c: string = "@S";
go                  cfg.@c = "@S"
go-short            @c := "@S"
java                private static final String @N = "@S";
java-properties     app.@k=@S
ruby                ENV['@N'] = '@S'
ruby-hash           { :@n => "@S" }
php                 define('@N', '@S');
php-array           '@n' => '@S',
csharp              public const string @c = "@S";
swift               let @c: String = "@S"
rust                let @n = "@S".to_string();
terraform           variable "@n" {\n  default = "@S"\n}
terraform-tfvars    @n = "@S"
yaml                auth:\n  @n: @S\n  region: eu\n
yaml-quoted         @k: "@S"
yaml-camel          @c: '@S'
yaml-pair           - name: @N\n  value: "@S"\n
helm-set            helm upgrade web ./chart --set auth.@c=@S
toml                [service]\n@n = "@S"\n
ini                 [default]\n@n = @S\n
xml                 <config><@c>@S</@c></config>
xml-attribute       <add key="@c" value="@S" />
xml-plist           <key>@c</key>\n<string>@S</string>
http-header         POST /v1/x HTTP/1.1\nHost: api.acme.dev\nX-@k: @S\n\n
http-header-lower   x-@k: @S
curl-header         curl -H "X-@k: @S" https://api.acme.dev/v1
curl-data           curl -d '@n=@S&scope=all' https://auth.acme.dev/token
query               https://api.acme.dev/v1/list?page=2&@n=@S
query-first         GET /v1/items?@c=@S&limit=10
form-encoded        grant_type=password&@n=@S&client=web
percent-encoded     redirect=https%3A%2F%2Fapi.acme.dev%2F%3F@n%3D@S
multipart           --x1\r\nContent-Disposition: form-data; name="@n"\r\n\r\n@S\r\n--x1--
cookie              Cookie: theme=dark; @n=@S
option              acme deploy --@k @S --region eu
option-equals       acme deploy --@k=@S
option-quoted       acme login --@k '@S'
gh-secret           gh secret set @N --body @S
gh-secret-quoted    gh secret set @N --repo acme/web --body "@S"
gh-secret-stdin     echo -n "@S" | gh secret set @N
fly-secrets         fly secrets set @N=@S
heroku-config       heroku config:set @N=@S -a acme
wrangler            echo @S | wrangler secret put @N
vercel-env          echo "@S" | vercel env add @N production
kubectl-literal     kubectl create secret generic web --from-literal=@k=@S
aws-ssm             aws ssm put-parameter --name /prod/@k --type SecureString --value @S
vault-kv            vault kv put secret/web @n=@S
powershell          $env:@N = "@S"
cmd                 set @N=@S
fish                set -gx @N @S
csh                 setenv @N @S
github-actions      env:\n  @N: @S\n
sql                 INSERT INTO settings (name, value) VALUES ('@n', '@S');
csv                 @n,@S
table               | @n | `@S` |
table-plain         | @N | @S |
markdown            **@N**: `@S`
log                 2026-05-02T10:00:00Z DEBUG auth @n=@S user=@U
log-json            {"level":"debug","msg":"config","@n":"@S"}
log-arrow           @N => @S
repr                Settings(@n='@S', region='eu')
go-struct           {Region:eu @c:@S Debug:false}
prompt              Use this @n: @S
prompt-backtick     my @n is `@S`, please keep it
ansi                \e[36m@N\e[0m=\e[33m@S\e[0m
ansi-inside         @N=\e[33m@S\e[0m
ansi-escaped        "@N=\\u001b[33m@S\\u001b[0m"
diff-added          @@ -1 +1 @@\n-DEBUG=1\n+@N=@S\n
grep-line           config/prod.env:12:@N=@S
numbered            12\t@N=@S\n13\tDEBUG=0
numbered-arrow          12→@N=@S\n    13→DEBUG=0
two-lines-shell     export @N=\\\n@S
yaml-folded         @n: >-\n  @S\n
html-input          <input type="hidden" name="@n" value="@S">
html-entities       {&quot;@n&quot;:&quot;@S&quot;}
"""

PASSWORDS = r"""
env                 DB_PASSWORD=@S\nDB_PORT=5432\n
env-short           MYSQL_PWD=@S
env-pass            SMTP_PASS=@S\n
json                {"user": "@U", "password": "@S"}
json-db             {"db": {"host": "db1", "dbPassword": "@S"}}
yaml                database:\n  username: @U\n  password: @S\n
yaml-quoted         password: '@S'
properties          spring.datasource.password=@S
python              conn = connect(user="@U", password="@S")
ruby-yaml           production:\n  adapter: postgresql\n  password: @S
uri                 postgresql://@U:@S@db.acme.dev:5432/shop
uri-redis           redis://:@S@cache.internal:6379/0
uri-mongo           mongodb+srv://@U:@S@cluster0.acme.mongodb.net/
uri-amqp            amqp://@U:@S@mq.acme.dev//
uri-https           git clone https://@U:@S@git.acme.dev/web.git
uri-ftp             ftp://@U:@S@files.acme.dev/
uri-jdbc            jdbc:postgresql://db/shop?user=@U&password=@S
odbc                Server=db;Database=shop;Uid=@U;Pwd=@S;
odbc-password       Data Source=db;User ID=@U;Password=@S;Encrypt=true
dsn                 host=db dbname=shop user=@U password=@S
sqlalchemy          create_engine("mysql+pymysql://@U:@S@localhost/shop")
netrc               machine git.acme.dev\n  login @U\n  password @S\n
netrc-line          machine git.acme.dev login @U password @S
pgpass              db.acme.dev:5432:shop:@U:@S
my-cnf              [client]\nuser=@U\npassword=@S\n
curl-user           curl -u @U:@S https://api.acme.dev/v1
curl-user-quoted    curl -u '@U:@S' https://api.acme.dev/v1
curl-user-long      curl --user @U:@S https://api.acme.dev/v1
wget                wget --user=@U --password=@S https://files.acme.dev/a.zip
mysql               mysql -h db -u @U -p@S shop
mysqldump           mysqldump -u @U -p'@S' shop > a.sql
mysql-long          mysql --user=@U --password=@S shop
psql                PGPASSWORD=@S psql -h db -U @U shop
mongosh             mongosh --username @U --password @S
redis-cli           redis-cli -h cache -a @S ping
sshpass             sshpass -p @S ssh @U@host
sshpass-quoted      sshpass -p '@S' scp a @U@host:
sshpass-glued       sshpass -p@S ssh @U@host
docker-login        docker login -u @U -p @S registry.acme.dev
docker-login-long   docker login --username @U --password @S
docker-stdin        echo @S | docker login -u @U --password-stdin
helm-login          helm registry login -u @U -p @S registry.acme.dev
skopeo              skopeo copy --src-creds @U:@S docker://a docker://b
sudo                echo @S | sudo -S apt-get update
sudo-quoted         echo "@S" | sudo -S -p "" systemctl restart web
sudo-here           sudo -S ls <<< "@S"
chpasswd            echo "@U:@S" | chpasswd
openssl             openssl enc -aes-256-cbc -in a -out b -passin pass:@S
openssl-k           openssl enc -d -aes-256-cbc -k @S -in a
gpg                 gpg --batch --passphrase @S -d a.gpg
zip                 zip -P @S a.zip b
unzip               unzip -P @S a.zip
sevenzip            7z x -p@S a.7z
ldapsearch          ldapsearch -x -D cn=admin,dc=acme -w @S -b dc=acme
ldapsearch-quoted   ldapsearch -D "cn=admin" -w '@S'
smbclient           smbclient //files/share -U @U%@S
smbclient-domain    smbclient -U 'ACME\\@U%@S' //files/share
mount-cifs          mount -t cifs //files/share /mnt -o username=@U,password=@S
lftp                lftp -u @U,@S files.acme.dev
ftp-quote           quote USER @U\nquote PASS @S
smtp-auth           smtp.login("@U", "@S")
requests-auth       requests.get(url, auth=("@U", "@S"))
paramiko            ssh.connect("host", username="@U", password="@S")
ansible             ansible_password: @S
ansible-become      ansible_become_pass=@S
keytool             keytool -list -keystore a.jks -storepass @S
jarsigner           jarsigner -keypass @S a.jar
sqlcmd              sqlcmd -S db -U sa -P @S
sqlplus             sqlplus @U/@S@ORCL
snowsql             SNOWSQL_PWD=@S snowsql
xfreerdp            xfreerdp /u:@U /p:@S /v:host
rdesktop            rdesktop -u @U -p @S host
net-use             net use Z: \\\\files\\share /user:@U @S
psexec              psexec \\\\host -u @U -p @S cmd
powershell          ConvertTo-SecureString "@S" -AsPlainText -Force
az-login            az login -u @U@acme.dev -p @S
oc-login            oc login -u @U -p @S
cf-login            cf login -u @U -p @S
rabbitmqctl         rabbitmqctl add_user @U @S
htpasswd            htpasswd -b .htpasswd @U @S
sql-user            CREATE USER @U WITH PASSWORD '@S';
sql-mysql           CREATE USER '@U'@'%' IDENTIFIED BY '@S';
sql-alter           ALTER ROLE @U PASSWORD '@S';
sql-set             SET PASSWORD FOR '@U' = PASSWORD('@S');
jupyter             jupyter notebook --NotebookApp.password=@S
mosquitto           mosquitto_pub -u @U -P @S -t a -m b
ipmitool            ipmitool -H bmc -U admin -P @S power status
snmp                snmpwalk -v3 -u @U -A @S -X @S host
nmcli               nmcli dev wifi connect Home password @S
wpa                 network={\n  ssid="Home"\n  psk="@S"\n}
expect              expect "password:"\nsend "@S\\r"
form-percent        user=@U&password=@P&x=1
multipart           --x1\r\nContent-Disposition: form-data; name="password"\r\n\r\n@S\r\n--x1--
xml                 <credentials><user>@U</user><password>@S</password></credentials>
maven               <server><id>x</id><username>@U</username><password>@S</password></server>
kwarg-passwd        pymysql.connect(host="db", user="@U", passwd="@S")
js-object           auth: { user: '@U', pass: '@S' }
ansi                password: \e[31m@S\e[0m
jdbc-oracle         jdbc:oracle:thin:@U/@S@db.acme.dev:1521/ORCL
ssh-keygen          ssh-keygen -t ed25519 -N '@S' -f key
vault-table         Key         Value\n---         -----\npassword    @S\nusername    @U\n
groovy              storePassword "@S"
clojure             {:user "@U" :password "@S"}
autounattend        <Password><Value>@S</Value></Password>
net-user            net user @U @S /add
pass-unquoted       smtp:\n  user: @U\n  pass: @S\n
identified-double   CREATE USER @U IDENTIFIED BY "@S";
add-mask            echo "::add-mask::@S"
har                 {"name":"password","value":"@S"}
table               | password | @S |
markdown            **Password:** `@S`
basic-url           curl https://@U:@S@api.acme.dev/v1
"""

SENTENCES = r"""
english             The password is @S
english-colon       Password: @S
english-for         the password for @U is @S, do not share it
english-login       login with @U / @S
english-credentials username: @U, password: @S
english-passphrase  the passphrase is "@S"
german              Das Passwort lautet: @S
german-is           Das Passwort ist @S
german-kennwort     Kennwort: @S
french              Le mot de passe est @S
french-colon        Mot de passe : @S
spanish             La contraseña es @S
spanish-clave       clave: @S
spanish-plain       contrasena: @S
italian             La password è @S
italian-parola      parola d'ordine: @S
portuguese          A senha é @S
portuguese-colon    Senha: @S
portuguese-pt       palavra-passe: @S
dutch               Het wachtwoord is @S
polish              Hasło to @S
polish-colon        Hasło: @S
czech               heslo je @S
russian             Пароль: @S
russian-dash        пароль — @S
ukrainian           Пароль такий: @S
turkish             Şifre: @S
turkish-parola      Parola: @S
swedish             Lösenordet är @S
danish              Adgangskoden er @S
norwegian           Passordet er @S
finnish             Salasana on @S
hungarian           A jelszó: @S
romanian            Parola este @S
greek               Ο κωδικός είναι @S
chinese             密码是 @S
chinese-colon       密码：@S
chinese-trad        密碼：@S
chinese-kouling     口令: @S
japanese            パスワードは @S です
japanese-colon      パスワード：@S
korean              비밀번호는 @S 입니다
korean-colon        비밀번호: @S
vietnamese          Mật khẩu là @S
indonesian          Kata sandi: @S
hindi               पासवर्ड: @S
arabic              كلمة المرور: @S
hebrew              סיסמה: @S
thai                รหัสผ่าน: @S
"""

PLAIN = r"""
alone               @S
sentence            here is the key: @S, use it
quoted              "@S"
backtick            `@S`
code-fence          ```\n@S\n```
list                - @S\n- other
env                 SERVICE_CREDENTIAL=@S
bearer              Authorization: Bearer @S
bearer-percent      headers=authorization%3DBearer%20@S
bearer-query        ?authorization=Bearer%20@S
json-value          {"value": "@S"}
json-key            {"@S": {"user": "@U"}}
json-list           ["a", "@S", "b"]
path                /srv/data/@S/config
url-path            https://api.acme.dev/v1/keys/@S/send
argument            client = Client("@S")
csv                 1,@U,@S,active
parenthesis         (@S)
ansi                \e[32m@S\e[0m
diff                +@S
log                 [debug] using @S for @U
tab                 1\t@S\t2
html                <td>@S</td>
end-of-line         the new key:\n@S\nthanks
escaped             "{\\"v\\":\\"@S\\"}"
"""

ENCODED = r"""
broken-lines        here:\n@L\n@R\n
broken-shell        export API_TOKEN=@L\\\n@R
broken-indent       token: @L\n       @R\n
base64-env          echo @B | base64 -d > .env
base64-json         {"env_file": "@B"}
base64-wrapped      content: |\n  @W\n
base64-data-url     data:text/plain;base64,@B
base64-cloud-init   user_data: @B
base64-key          encoded: @K
kubernetes          apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\ndata:\n  config: @K\n  other.txt: @K\n
kubernetes-json     {"apiVersion":"v1","data":{"conf":"@K"},"kind":"Secret","metadata":{"name":"web"}}
kubernetes-string   kind: Secret\nstringData:\n  conf: @S\n
hex-env             xxd -p .env\n@H
hex-key             hex: @X
hex-upper           @Y
percent-all         x-data=@Q
ansi-middle         key=@L\e[0m\e[33m@R
"""
