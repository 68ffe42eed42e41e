"""Languages of visitors that Django has no name for: those that browsers and telephones can be set to.

Names are those of Unicode CLDR in English. A test compares them with Babel, so only developers need Babel.
"""

from collections.abc import Mapping
from types import MappingProxyType

LANGUAGE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "aa": "Afar", "ab": "Abkhazian", "ak": "Akan", "am": "Amharic", "an": "Aragonese", "as": "Assamese",
        "ay": "Aymara", "ba": "Bashkir", "bm": "Bambara", "bo": "Tibetan", "ce": "Chechen", "ceb": "Cebuano",
        "chr": "Cherokee", "co": "Corsican", "cv": "Chuvash", "dv": "Divehi", "dz": "Dzongkha", "ee": "Ewe",
        "ff": "Fula", "fil": "Filipino", "fo": "Faroese", "gn": "Guarani", "gsw": "Swiss German",
        "gu": "Gujarati", "gv": "Manx", "ha": "Hausa", "haw": "Hawaiian", "ht": "Haitian Creole",
        "ii": "Sichuan Yi", "iu": "Inuktitut", "jv": "Javanese", "kg": "Kongo", "ki": "Kikuyu",
        "kl": "Kalaallisut", "kok": "Konkani", "ks": "Kashmiri", "ku": "Kurdish", "kw": "Cornish",
        "la": "Latin", "lg": "Ganda", "li": "Limburgish", "ln": "Lingala", "lo": "Lao", "mg": "Malagasy",
        "mi": "Māori", "mni": "Manipuri", "mt": "Maltese", "nd": "North Ndebele", "nr": "South Ndebele",
        "nso": "Northern Sotho", "ny": "Nyanja", "oc": "Occitan", "om": "Oromo", "or": "Odia",
        "pap": "Papiamento", "ps": "Pashto", "qu": "Quechua", "rm": "Romansh", "rn": "Rundi",
        "rw": "Kinyarwanda", "sa": "Sanskrit", "sat": "Santali", "sc": "Sardinian", "scn": "Sicilian",
        "sco": "Scots", "sd": "Sindhi", "se": "Northern Sami", "sg": "Sango", "si": "Sinhala", "sm": "Samoan",
        "sn": "Shona", "so": "Somali", "st": "Southern Sotho", "su": "Sundanese", "szl": "Silesian",
        "tet": "Tetum", "ti": "Tigrinya", "tl": "Tagalog", "tn": "Tswana", "to": "Tongan", "ts": "Tsonga",
        "tw": "Twi", "ty": "Tahitian", "tzm": "Central Atlas Tamazight", "ve": "Venda", "wa": "Walloon",
        "wo": "Wolof", "xh": "Xhosa", "yi": "Yiddish", "yo": "Yoruba", "yue": "Cantonese", "za": "Zhuang",
        "zh": "Chinese", "zu": "Zulu",
    }
)  # fmt: skip
