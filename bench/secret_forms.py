"""Secrets that have a form of their own: one line for each kind, as its provider writes it.

`draw` fills a form with random characters. `{h32}` is 32 characters of the alphabet `h`. The alphabets are listed in
`ALPHABETS`. `{g}` is a UUID. No form comes from another scanner's rules. Each one follows the provider's documents.
"""

import random
import re
import string
import uuid

ALPHABETS = {
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "a": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "c": string.ascii_letters,
    "s": "./" + string.digits + string.ascii_letters,
    "k": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "y": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}

MODEL_PROVIDERS = """
anthropic           sk-ant-api03-{w93}AA
anthropic-admin     sk-ant-admin01-{w93}AA
anthropic-oauth     sk-ant-oat01-{w93}AA
openai-project      sk-proj-{w74}T3BlbkFJ{w74}
openai-service      sk-svcacct-{w58}T3BlbkFJ{w58}
openai-legacy       sk-{a20}T3BlbkFJ{a20}
openrouter          sk-or-v1-{h64}
deepseek            sk-{h32}
groq                gsk_{a52}
google-api          AIza{w35}
huggingface         hf_{c34}
huggingface-org     api_org_{c34}
replicate           r8_{a37}
perplexity          pplx-{a48}
xai                 xai-{a80}
cerebras            csk-{l48}
fireworks           fw_{a22}
together            tgp_v1_{w43}
nvidia              nvapi-{w64}
voyage              pa-{w43}
elevenlabs          sk_{h48}
tavily              tvly-dev-{a32}
firecrawl           fc-{h32}
jina                jina_{h32}{w28}
e2b                 e2b_{h40}
langsmith           lsv2_pt_{h32}_{h10}
langfuse            sk-lf-{g}
pinecone            pcsk_{a6}_{a60}
bedrock-long        ABSK{b132}
baseten-named       BASETEN_API_KEY={a8}.{a32}
wandb-v1            wandb_v1_{a77}
modal-secret        as-{a22}
unify-litellm       sk-litellm-{w32}
"""

CLOUDS = """
aws-id              AKIA{k16}
aws-temporary-id    ASIA{k16}
google-oauth        ya29.a0{w160}
google-refresh      1//0{w60}
google-client       GOCSPX-{w28}
azure-client        {a3}8Q~{w34}
azure-storage       AccountKey={b86}==
azure-openai        {a52}JQQJ99{a16}ABACYeBjFXJ3w3{a8}
alibaba-id          LTAI{a20}
tencent-id          AKID{a32}
digitalocean        dop_v1_{h64}
digitalocean-oauth  doo_v1_{h64}
hetzner-named       HCLOUD_TOKEN={a64}
linode-named        LINODE_TOKEN={h64}
scaleway-named      SCW_SECRET_KEY={g}
yandex-api          AQVN{w36}
yandex-static       YC{w38}
yandex-iam          t1.{w120}.{w86}
oracle-named        OCI_AUTH_TOKEN={a20}
cloudflare-origin   v1.0-{h24}-{h146}
cloudflare-token    cfut_{a40}{h8}
databricks          dapi{h32}
heroku              HRKU-AA{w58}
fly                 fm2_{b120}
fly-older           fo1_{w43}
vercel              vcp_{a56}
netlify             nfp_{a36}
planetscale         pscale_tkn_{w43}
planetscale-pw      pscale_pw_{w43}
neon                napi_{l64}
supabase            sbp_{h40}
supabase-secret     sb_secret_{w31}
render              rnd_{a28}
railway-named       RAILWAY_TOKEN={g}
doppler             dp.pt.{a43}
doppler-service     dp.st.prd.{a43}
doppler-cli         dp.ct.{a43}
infisical           st.{h24}.{h32}.{h32}
vault               hvs.{w90}
vault-older-named   VAULT_TOKEN=s.{a24}
vault-batch         hvb.{w140}
terraform           {a14}.atlasv1.{w67}
pulumi              pul-{h40}
tailscale           tskey-auth-{a12}CNTRL-{a32}
ngrok-named         NGROK_AUTHTOKEN=2{a26}_{a21}
openshift           sha256~{w43}
ibm-named           IBMCLOUD_API_KEY={w44}
clickhouse          4b1d{a38}
confluent-named     CONFLUENT_SECRET={b64}
aiven-named         AIVEN_TOKEN={b344}
cockroach           CCDB1_{a22}_{a40}
upstash-named       UPSTASH_REDIS_REST_TOKEN={a50}
turso-jwt           eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJpYXQiOj{w60}.{w86}
dynatrace           dt0c01.{u24}.{u64}
defined             dnkey-{l26}-{l52}
scalingo            tk-us-{w48}
prefect             pnu_{a36}
grafana-service     glsa_{a32}_{h8}
grafana-cloud       glc_eyJvIjoi{b80}==
grafana-older       eyJrIjoi{a80}
newrelic-user       NRAK-{u27}
newrelic-insert     NRII-{w32}
newrelic-browser    NRJS-{h19}
newrelic-license    {h36}FFFFNRAL
sentry-user         sntryu_{h64}
sentry-org          sntrys_eyJpYXQiOj{b120}=_{b43}
splunk-named        SPLUNK_HEC_TOKEN={g}
honeycomb           hcaik_01{l56}
logfire             pylf_v1_us_{a43}
axiom               xaat-{g}
posthog-personal    phx_{a43}
launchdarkly-sdk    sdk-{g}
launchdarkly-api    api-{g}
statsig             secret-{a42}
flagsmith-named     FLAGSMITH_KEY=ser.{a22}
"""

CODE_HOSTS = """
github-classic      ghp_{a36}
github-oauth        gho_{a36}
github-server       ghs_{a36}
github-refresh      ghr_{a76}
github-fine         github_pat_{a22}_{a59}
gitlab              glpat-{w20}
gitlab-routable     glpat-{w27}.01.{l9}
gitlab-deploy       gldt-{w20}
gitlab-runner       glrt-{w20}
gitlab-runner-old   GR1348941{w20}
gitlab-job          glcbt-{a2}_{w20}
gitlab-trigger      glptt-{h40}
gitlab-feature      glffct-{w20}
gitlab-oauth        gloas-{h64}
gitlab-scim         glsoat-{w20}
bitbucket-app       ATBB{a32}
bitbucket-http      BBDC-{b44}
atlassian           ATATT3xFfGF0{w172}={H8}
npm                 npm_{a36}
npm-older           //registry.npmjs.org/:_authToken={g}
pypi                pypi-AgEIcHlwaS5vcmc{w150}
nuget               oy2{l43}
rubygems            rubygems_{h48}
clojars             CLOJARS_{h60}
crates              cio{a32}
docker              dckr_pat_{w27}
docker-org          dckr_oat_{w32}
jfrog               AKCp{a69}
jfrog-reference     cmVmdGtuOjAx{a52}
sonar-user          squ_{h40}
sonar-project       sqp_{h40}
sonar-analysis      sqa_{h40}
circleci            CCIPAT_{a22}_{h40}
buildkite           bkua_{h40}
codecov-named       CODECOV_TOKEN={g}
harness             pat.{w22}.{h24}.{a20}
octopus             API-{u26}
sourcegraph         sgp_{h16}_{h40}
infracost           ico-{a32}
deno                ddp_{a36}
expo-named          EXPO_TOKEN={w40}
snyk-named          SNYK_TOKEN={g}
postman             PMAK-{h24}-{h34}
readme              rdme_{l70}
azure-devops        {a76}AZDO{a4}
travis-named        TRAVIS_TOKEN={a22}
gitea-named         GITEA_TOKEN={h40}
"""

SERVICES = """
slack-bot           xoxb-{d12}-{d13}-{a24}
slack-user          xoxp-{d12}-{d12}-{d13}-{h32}
slack-session       xoxc-{d12}-{d12}-{d12}-{h64}
slack-cookie        xoxd-{a40}%2B{a40}%3D
slack-app           xapp-1-A{u10}-{d13}-{h64}
slack-config        xoxe.xoxp-1-{a166}
slack-webhook       https://hooks.slack.com/services/T{u8}/B{u10}/{a24}
slack-workflow      https://hooks.slack.com/triggers/T{u8}/{d13}/{h32}
discord-bot         MTA{a23}.G{a5}.{w38}
discord-bot-other   NzQ{a21}.X{a5}.{w27}
discord-webhook     https://discord.com/api/webhooks/{d19}/{w68}
telegram            {d10}:AA{w33}
teams-webhook       https://acme.webhook.office.com/webhookb2/{g}@{g}/IncomingWebhook/{h32}/{g}
zapier-webhook      https://hooks.zapier.com/hooks/catch/{d7}/{l7}/
stripe-live         sk_live_{a24}
stripe-long         sk_live_51{a97}
stripe-restricted   rk_live_{a24}
stripe-webhook      whsec_{a32}
square              EAAA{w60}
square-older        sq0atp-{w22}
square-secret       sq0csp-{w43}
paypal-braintree    access_token$production${l16}${h32}
razorpay            rzp_live_{a14}
adyen               AQE{a1}hmfxK{b80}=
flutterwave         FLWSECK-{h32}-X
flutterwave-test    FLWSECK_TEST-{h32}-X
paystack            sk_live_{h40}
checkout            sk_{g}
gocardless          live_{w40}
duffel              duffel_live_{w43}
easypost            EZAK{a54}
easypost-test       EZTK{a54}
lob-named           LOB_API_KEY=live_{h35}
shippo              shippo_live_{h40}
plaid-access        access-production-{g}
coinbase-named      COINBASE_API_SECRET={a32}
twilio              SK{h32}
twilio-named        TWILIO_AUTH_TOKEN={h32}
sendgrid            SG.{w22}.{w43}
mailgun             key-{h32}
mailgun-named       MAILGUN_API_KEY={h32}-{h8}-{h8}
mailchimp           {h32}-us14
mandrill-named      MANDRILL_API_KEY={w22}
brevo               xkeysib-{h64}-{a16}
brevo-smtp          xsmtpsib-{h64}-{a16}
postmark-named      POSTMARK_SERVER_TOKEN={g}
resend              re_{a8}_{a24}
klaviyo             pk_{h34}
mailersend          mlsn.{h64}
loops-uuid          LOOPS_API_KEY={h32}
hubspot             pat-na1-{g}
hubspot-eu          pat-eu1-{g}
salesforce          00D{a12}!AQ{w90}
intercom            dG9rOj{a60}=
zendesk-named       ZENDESK_API_TOKEN={a40}
linear              lin_api_{a40}
notion              ntn_{d11}{a35}
notion-older        secret_{a43}
airtable            pat{a14}.{h64}
asana               1/12{d14}:{h32}
asana-newer         2/12{d14}/12{d14}:{h32}
trello              ATTA{h64}{H8}
monday-named        MONDAY_API_TOKEN=eyJhbGciOiJIUzI1NiJ9.eyJ0aWQiOj{w80}.{w43}
clickup             pk_{d8}_{u32}
figma               figd_{w40}
dropbox             sl.{w135}
dropbox-newer       sl.u.{w400}
box-named           BOX_CLIENT_SECRET={a32}
typeform            tfp_{w59}
contentful          CFPAT-{w43}
contentful-named    CONTENTFUL_ACCESS_TOKEN={w43}
sanity-named        SANITY_API_TOKEN=sk{a178}
storyblok-named     STORYBLOK_TOKEN={a22}tt
shopify             shpat_{h32}
shopify-shared      shpss_{h32}
mapbox              sk.eyJ1Ijoi{w60}.{w22}
maxmind             {a6}_{a29}_mmk
facebook            EAAC{a180}
facebook-app-named  FACEBOOK_ACCESS_TOKEN={d15}|{w27}
instagram           IGQV{a160}
linkedin            AQX{w160}
twitter-bearer      AAAAAAAAAAAAAAAAAAAAA{a40}%3D{a40}
twitch-named        TWITCH_CLIENT_SECRET={l30}
frameio             fio-u-{w64}
adobe               p8e-{w32}
adafruit            aio_{a28}
meraki-named        MERAKI_DASHBOARD_API_KEY={h40}
okta-named          OKTA_API_TOKEN=00{w40}
auth0-named         AUTH0_CLIENT_SECRET={w64}
workos              sk_live_{a50}
clerk               sk_live_{a42}
onepassword         ops_eyJ{a300}
onepassword-key     A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}
bitwarden           0.{g}.{a30}:{b22}==
settlemint          sm_pat_{a16}
intra42             s-s4t2ud-{h64}
authress            scauth_{l10}.{l4}.acc-{l16}.{b60}
freemius            'secret_key' => 'sk_{a29}'
apify               apify_api_{a36}
pipedream           pd_api_{h32}
rapidapi            {h10}msh{h15}p1{h6}jsn{h12}
browserless-named   BROWSERLESS_TOKEN={g}
deepgram-named      DEEPGRAM_API_KEY={h40}
assemblyai-named    ASSEMBLYAI_API_KEY={h32}
openweather-named   OPENWEATHER_APPID={h32}
amplitude-named     AMPLITUDE_SECRET_KEY={h32}
segment-named       SEGMENT_WRITE_KEY={a32}
mixpanel-named      MIXPANEL_SECRET={h32}
datadog-named       DD_API_KEY={h32}
datadog-app-named   DD_APP_KEY={h40}
algolia-named       ALGOLIA_ADMIN_KEY={h32}
pagerduty-named     PAGERDUTY_API_KEY=u+{a18}
opsgenie-named      OPSGENIE_API_KEY={g}
telnyx              KEY0{H30}_{a22}
plivo-named         PLIVO_AUTH_TOKEN={a40}
nylas-key           nyk_v0_{a64}
calendly-named      CALENDLY_TOKEN=eyJraWQiOiIxY2UxZTEzNjE3ZGNmNzY2.eyJpc3Mi{w80}.{w86}
line-named          LINE_CHANNEL_SECRET={h32}
firebase-fcm        AAAA{a7}:APA91b{w134}
"""

KEY_MATERIAL = """
bcrypt              $2b$12${s53}
apache-md5          $apr1${s8}${s22}
sha512-crypt        $6${s16}${s86}
sha256-crypt        $5${s16}${s43}
yescrypt            $y$j9T${s22}${s43}
argon2              $argon2id$v=19$m=65536,t=3,p=4${b22}${b43}
scrypt-linux        $7$CU..../....{s20}${s43}
django-hash         pbkdf2_sha256$600000${a22}${b43}=
werkzeug-hash       scrypt:32768:8:1${a16}${h128}
age                 AGE-SECRET-KEY-1{y58}
wireguard           PrivateKey = {b43}=
wireguard-shared    PresharedKey = {b43}=
jwt                 eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi{w60}.{w43}
jwe                 eyJhbGciOiJSU0EtT0FFUCJ9.{w60}.{w16}.{w80}.{w22}
ethereum-named      PRIVATE_KEY=0x{h64}
bitcoin-named       WALLET_PRIVATE_KEY=L{a51}
bitcoin-xprv        xprv9{a106}
solana-named        SOLANA_PRIVATE_KEY={a88}
nostr               nsec1{l58}
minisign            RWRTY0Iy{b200}=
stellar-named       STELLAR_SECRET_SEED=S{k55}
"""

GROUPS = {
    "models": MODEL_PROVIDERS,
    "clouds": CLOUDS,
    "code": CODE_HOSTS,
    "services": SERVICES,
    "key-material": KEY_MATERIAL,
}
FORMS = {name: dict(line.split(None, 1) for line in text.strip().splitlines()) for name, text in GROUPS.items()}
_FIELD = re.compile(r"\{(?:(g)|([a-zA-Z])(\d+))\}")


def draw(form: str, chance: random.Random) -> str:
    """Return one secret of a form."""

    def characters(field: re.Match[str]) -> str:
        if field[1]:
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))
        return "".join(chance.choices(ALPHABETS[field[2]], k=int(field[3])))

    return _FIELD.sub(characters, form)
