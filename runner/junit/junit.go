// Package junit writes the test report that CI servers read.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
)

// A Suite is a report.
type Suite struct {
	Name  string
	Cases []Case
}

// A Case is one thing that was tested. Of Failure and Error at most one is set.
type Case struct {
	Name, Class string
	Seconds     float64 // 0 where it is not known
	Failure     *Why    // it is not as it should be
	Error       *Why    // it could not be said
	Said        string  // whatever else there is to tell
}

// A Why is a line, and whatever else there is to tell.
type Why struct{ Message, Text string }

type suiteXML struct {
	XMLName  xml.Name  `xml:"testsuite"`
	Name     string    `xml:"name,attr"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Errors   int       `xml:"errors,attr"`
	Time     string    `xml:"time,attr,omitempty"`
	Cases    []caseXML `xml:"testcase"`
}

type caseXML struct {
	Name    string  `xml:"name,attr"`
	Class   string  `xml:"classname,attr"`
	Time    string  `xml:"time,attr,omitempty"`
	Failure *whyXML `xml:"failure,omitempty"`
	Error   *whyXML `xml:"error,omitempty"`
	Said    string  `xml:"system-out,omitempty"`
}

type whyXML struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Write writes the report as XML.
func (s Suite) Write(w io.Writer) error {
	out := suiteXML{Name: s.Name, Tests: len(s.Cases)}
	total := 0.0
	for _, c := range s.Cases {
		total += c.Seconds
		if c.Failure != nil {
			out.Failures++
		}
		if c.Error != nil {
			out.Errors++
		}
		out.Cases = append(out.Cases, caseXML{c.Name, c.Class, seconds(c.Seconds), (*whyXML)(c.Failure), (*whyXML)(c.Error), c.Said})
	}
	out.Time = seconds(total)
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", s)
}
