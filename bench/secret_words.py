"""Names that secrets have, passwords that people choose, and phrases that recover a wallet."""

import random

NAMES = """
API_KEY OPENAI_API_KEY MY_SERVICE_API_KEY X_API_KEY CLIENT_SECRET OAUTH_CLIENT_SECRET APP_SECRET SECRET_KEY SECRET
ACCESS_TOKEN REFRESH_TOKEN AUTH_TOKEN BOT_TOKEN DEPLOY_TOKEN SERVICE_TOKEN WEBHOOK_SECRET SIGNING_SECRET JWT_SECRET
SESSION_SECRET ENCRYPTION_KEY SIGNING_KEY MASTER_KEY PRIVATE_KEY STRIPE_SECRET_KEY RAZORPAY_KEY_SECRET APP_KEY
DATADOG_APP_KEY ACCESS_KEY SECRET_ACCESS_KEY STORAGE_ACCOUNT_KEY API_TOKEN API_SECRET CONSUMER_SECRET ADMIN_TOKEN
SERVICE_CREDENTIAL AUTH_KEY LICENSE_KEY SUBSCRIPTION_KEY SHARED_SECRET HMAC_SECRET TOKEN_SECRET BEARER_TOKEN
""".split()

WORDS = """
summer winter dragon monkey falcon silver copper orange purple rocket castle garden window coffee summit thunder
pepper shadow hunter forest river mountain tiger eagle wizard pirate marble velvet harbor lantern meadow quartz
""".split()

USERS = ["jane", "deploy", "admin", "svc-web", "root", "marta"]

BIP39 = """
abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach bean beauty
cabbage cabin cable cactus cage cake call calm camera camp can canal cancel candy cannon canoe canvas canyon
dad damage damp dance danger daring dash daughter dawn day deal debate debris decade december decide decline
eager eagle early earn earth easily east easy echo ecology economy edge edit educate effort egg eight either
fabric face faculty fade faint faith fall false fame family famous fan fancy fantasy farm fashion fat fatal
gadget gain galaxy gallery game gap garage garbage garden garlic garment gas gasp gate gather gauge gaze
habit hair half hammer hamster hand happy harbor hard harsh harvest hat have hawk hazard head health heart
kangaroo keen keep ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi knee knife
nominee noodle normal north nose notable note nothing notice novel now nuclear number nurse nut
object oblige obscure observe obtain obvious occur ocean october odor off offer office often oil okay
""".split()


def password(chance: random.Random, marks: str) -> str:
    """Return a password as a person chooses it, or as a program suggests it."""
    word, other, third = chance.sample(WORDS, 3)
    number, mark = chance.randrange(10, 10_000), chance.choice(marks)
    letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    leet = word.translate(str.maketrans("aeio", "43!0" if "!" in marks else "4310"))
    forms = [
        f"{word.title()}{number}{mark}",
        f"{word}{number}",
        f"{leet.title()}{mark}{number}",
        f"{word.title()}{mark}{other.title()}{chance.randrange(10)}",
        f"{word}-{other}-{third}-{chance.randrange(10, 100)}",
        "".join(chance.choices(letters, k=chance.choice([10, 12, 14, 16]))),
        "".join(chance.choices(letters + marks, k=15)) + str(chance.randrange(10)),
        f"{word[:2].upper()}{mark}{other[:3]}{number}{third[-2:]}",
    ]
    return chance.choice(forms)


def phrase(count: int, chance: random.Random) -> str:
    """Return a mnemonic of so many words."""
    return " ".join(chance.choices(BIP39, k=count))


def value(chance: random.Random) -> str:
    """Return what a program makes for a name such as API_KEY: any alphabet, 16 characters and more."""
    from secret_forms import draw

    alphabet = chance.choices("alhwubc", [6, 3, 4, 3, 1, 2, 2])[0]
    return draw(f"{{{alphabet}{chance.choice([16, 16, 20, 24, 32, 40, 43, 64])}}}", chance)
