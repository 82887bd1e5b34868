"""What a change may decide about itself: both sides, their settings compared, exceptions, the baseline."""
