# Turns a public header into the text that Doxygen reads. The head of the file describes the file;
# plain comments of C headers describe what follows, or what is before them.
1s|.*|/// @file|
2,/^#/s|^//\( \{0,1\}\)|///\1|
s|weft::inline v0|weft|
