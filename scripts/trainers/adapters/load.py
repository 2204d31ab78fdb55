"""`datasets.load_dataset` alone: a record that it cannot read, no trainer above it can."""

PACKAGES = ["datasets"]
STUBBED = "nothing"
MODES = {"default": {}}


def make(mode, tokenizer_folder):
    from adapters import Outcome, data_set, refused

    def encode(record, max_length=None):
        try:
            data_set(record)
        except Exception as error:
            return refused(error)
        return Outcome("accepted")

    return encode
