"""The words of the generator. A run draws names from the even or the odd places of a list, so keep an even number."""

SLOTS = {
    "user": ["admin", "deploy", "alice", "bob", "svc_report", "jenkins", "maria", "postgres", "root", "ci-bot", "app", "backup", "tomas", "webuser"],
    "host": ["db.internal", "db-01.prod.lan", "mail.example.org", "10.20.0.7", "cache.staging.local", "gw.corp.example", "localhost", "nas.home.arpa", "pg.acme.io", "vpn.example.net"],
    "domain": ["example.com", "acme.io", "shop.example.org", "corp.example.net", "api.widgets.dev", "data.example.edu"],
    "db": ["orders", "inventory", "analytics", "app_production", "wordpress", "billing", "crm", "tickets"],
    "svc": ["billing", "gateway", "mailer", "worker", "search", "exporter", "scheduler", "frontend"],
    "repo": ["acme/api", "widgets/infra", "team/backend", "shop/storefront", "data/pipelines", "ops/cluster"],
    "path": ["/etc/app/config.ini", "/srv/deploy/.env", "./settings.local", "/home/deploy/notes.txt", "infra/values.yaml", "conf/app.properties", "~/work/config", "backup/old.conf"],
    "name": ["VALUE", "CFG", "X_DATA", "PARAM_1", "EXTRA", "SETTING", "INPUT_A", "FIELD"],
}

COMMON = (
    "apple harbor correct horse battery staple winter garden silver monkey dragon purple forest candle rocket window "
    "planet coffee guitar marble tunnel falcon copper meadow pepper island shadow thunder velvet walnut yellow zebra "
    "bridge castle desert engine feather glacier hammer jungle kettle ladder magnet needle orange pirate quartz ribbon "
    "saddle temple violet whistle anchor blanket compass diamond emerald fountain goblin helmet insect jacket lantern "
    "mustard nutmeg oyster pumpkin rabbit salmon turtle umbrella vulture wizard barrel cactus donkey elephant flamingo"
).split()

HUMAN = (
    "Sommer Winter Welcome Passwort Berlin Dragon Michael Liverpool Summer Spring Autumn Monkey Football Charlie London "
    "Hannover Password Sunshine Princess Samantha Juventus Barcelona Chelsea Qwerty Ashley Jordan Starwars Pokemon Herbst "
    "Thomas Andreas Stefanie Natalia Francesca Guillaume Matrix Phoenix Diamond Freedom Hunter Buster Soccer Harley"
).split()

# Words of the BIP39 English list.
MNEMONIC = (
    "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid "
    "balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket battle beach bean beauty "
    "cabbage cabin cable cactus cage cake call calm camera camp can canal cancel candy cannon canoe canvas canyon "
    "damage damp dance danger daring dash daughter dawn day deal debate debris decade december decide decline decorate "
    "eager eagle early earn earth easily east easy echo ecology economy edge edit educate effort egg eight either "
    "fabric face faculty fade faint faith fall false fame family famous fan fancy fantasy farm fashion fat fatal "
    "gadget gain galaxy gallery game gap garage garbage garden garlic garment gas gasp gate gather gauge gaze general "
    "hair half hammer hamster hand happy harbor hard harsh harvest hat have hawk hazard head health heart heavy "
    "ladder lady lake lamp language laptop large later latin laugh laundry lava law lawn lawsuit layer lazy leader "
    "machine mad magic magnet maid mail main major make mammal man manage mandate mango mansion manual maple marble "
    "oak obey object oblige obscure observe obtain obvious occur ocean october odor off offer office often oil okay "
    "rabbit raccoon race rack radar radio rail rain raise rally ramp ranch random range rapid rare rate rather raven"
).split()
