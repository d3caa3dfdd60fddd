"""MATTRL: consultations, credit for utterances, and experience that is distilled from them."""
